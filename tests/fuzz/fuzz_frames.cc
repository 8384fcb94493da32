// Any bytes, read as what comes over a network: frames and what they carry, records that are
// sealed, control words of groups, calls in polled memory. Nothing may be read beyond its end; what
// is read must survive being written; and it makes no difference in which pieces the bytes come.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "hw/binding.h"
#include "hw/call/record.h"
#include "hw/group/control.h"
#include "hw/mesh/seal.h"
#include "hw/mesh/wire.h"
#include "hw/rank_facts.h"

namespace {

namespace hw = slackline::hw;
using hw::Bytes;

void require(bool held) {
  if (!held) std::abort();
}

// What `decode` gives is written and read again. `decode` throws WireError or answers bytes.
template <class Again>
void come_back(const Again& again) {
  try {
    const Bytes once = again();
    require(!once.empty());
  } catch (const hw::WireError&) {
  }
}

void read_words(std::span<const std::byte> bytes) {
  come_back([&] {
    const Bytes written = encode(hw::decode_members(bytes));
    require(encode(hw::decode_members(written)) == written);
    return written;
  });
  come_back([&] {
    constexpr std::uint32_t kRanks = 5;
    const Bytes written = encode(hw::decode_verdict(bytes, kRanks));
    require(encode(hw::decode_verdict(written, kRanks)) == written);
    return written;
  });
  come_back([&] {
    const Bytes written = encode(hw::decode_loss(bytes));
    require(encode(hw::decode_loss(written)) == written);
    return written;
  });
  come_back([&] {
    const Bytes written = encode(hw::decode_hello(hw::kMeshProtocol, bytes));
    const auto payload = std::span(written).subspan(hw::kPreambleBytes);
    require(encode(hw::decode_hello(hw::kMeshProtocol, payload)) == written);
    return written;
  });
  come_back([&] {
    const Bytes written = encode(hw::decode_rank_facts(bytes));
    require(written.size() == bytes.size());
    require(encode(hw::decode_rank_facts(written)) == written);
    return written;
  });
  come_back([&] {
    const Bytes written = encode(hw::decode_rank_seat(bytes));
    require(encode(hw::decode_rank_seat(written)) == written);
    return written;
  });
  if (bytes.size() >= hw::kPreambleBytes) hw::decode_preamble(bytes.first<hw::kPreambleBytes>());
  if (const auto control = hw::decode_group_control(bytes)) {
    const Bytes written = encode(*control);
    const auto again = hw::decode_group_control(written);
    require(again && encode(*again) == written);
  }
}

struct Read {
  std::vector<hw::Frame> frames;
  bool refused = false;
};

Read frames_of(std::span<const std::byte> bytes, std::size_t piece) {
  Read read;
  hw::FrameReader reader;
  try {
    while (!bytes.empty()) {
      const std::size_t count = std::min(piece, bytes.size());
      reader.feed(bytes.first(count), read.frames);
      bytes = bytes.subspan(count);
    }
  } catch (const hw::WireError&) {
    read.refused = true;
  }
  return read;
}

void read_frames(std::span<const std::byte> bytes, std::size_t piece) {
  const Read whole = frames_of(bytes, bytes.size());
  const Read pieces = frames_of(bytes, piece);
  require(whole.refused == pieces.refused && whole.frames.size() == pieces.frames.size());
  for (std::size_t i = 0; i < whole.frames.size(); ++i) {
    require(whole.frames[i].kind == pieces.frames[i].kind);
    require(whole.frames[i].topic == pieces.frames[i].topic);
    require(whole.frames[i].payload == pieces.frames[i].payload);
  }
}

// Nobody who lacks the key makes a record that opens.
void read_records(std::span<const std::byte> bytes, std::size_t piece) {
  static const hw::KeyExchange one(std::nullopt);
  static const hw::KeyExchange other(std::nullopt);
  const auto seal = one.agree(other.mine(), true);
  hw::RecordReader reader;
  try {
    while (!bytes.empty()) {
      const std::size_t count = std::min(piece, bytes.size());
      reader.feed(*seal, bytes.first(count), [](std::span<const std::byte>) { std::abort(); });
      bytes = bytes.subspan(count);
    }
  } catch (const hw::WireError&) {
  }
}

// A record's stamp is the first word here, so that the rest is looked at.
void read_call(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> words((bytes.size() + 7) / 8);
  if (words.empty()) return;
  std::memcpy(words.data(), bytes.data(), bytes.size());
  auto* const record = reinterpret_cast<std::byte*>(words.data());
  const std::size_t room = 8 * words.size();
  hw::RecordHead head;
  // Its tail is right as often as its length lets it be.
  if (room >= sizeof head) {
    std::memcpy(&head, record, sizeof head);
    const std::size_t end = head.bytes;
    if (end % 8 == 0 && end >= hw::kEndBytes && end <= room) {
      const std::uint64_t tail = hw::tail_of(record, end, words[0]);
      std::memcpy(record + end - hw::kTailBytes, &tail, sizeof tail);
    }
  }
  if (!hw::is_whole(record, room, words[0], head)) return;
  const std::span<std::byte> buffer = hw::buffer_of(head, record);
  require(buffer.data() >= hw::closure_of(record) &&
          buffer.data() + buffer.size() <= record + room);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] % 64;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  read_words(bytes);
  read_frames(bytes, piece);
  read_records(bytes, piece);
  read_call(bytes);
  return 0;
}
