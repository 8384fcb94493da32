#include "hw/mesh/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/shown_text.h"

namespace slackline::hw {
namespace {

constexpr std::array<char, 8> kMagic = {'\x89', 'S', 'L', 'K', 'M', '\r', '\n', '\x1a'};

// Memory for a message is taken as its bytes come, but for this much.
constexpr std::uint64_t kReserved = 1 << 24;

template <typename T>
void append_number(Bytes& bytes, T value) {
  for (std::size_t i = 0; i < sizeof value; ++i) {
    bytes.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
  }
}

template <typename T>
T number_of(std::span<const std::byte> bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i) {
    value |= static_cast<T>(std::to_integer<T>(bytes[i]) << (8 * i));
  }
  return value;
}

bool is_kind(std::uint32_t kind) {
  using enum FrameKind;
  for (const FrameKind known : {kWelcome, kTable, kReady, kWaiting, kVerdict, kGo, kHeartbeat,
                                kLost, kFarewell, kClockAsk, kClockTell, kMessage, kGather}) {
    if (static_cast<std::uint32_t>(known) == kind) return true;
  }
  return false;
}

}  // namespace

WireWriter& WireWriter::u32(std::uint32_t value) {
  append_number(bytes_, value);
  return *this;
}

WireWriter& WireWriter::u64(std::uint64_t value) {
  append_number(bytes_, value);
  return *this;
}

WireWriter& WireWriter::text(std::string_view value) {
  u32(static_cast<std::uint32_t>(value.size()));
  return raw(std::as_bytes(std::span(value)));
}

WireWriter& WireWriter::raw(std::span<const std::byte> bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

std::span<const std::byte> WireReader::raw(std::size_t count) {
  if (count > bytes_.size()) throw WireError("bytes are missing");
  const auto taken = bytes_.first(count);
  bytes_ = bytes_.subspan(count);
  return taken;
}

std::uint32_t WireReader::u32() { return number_of<std::uint32_t>(raw(4)); }

std::uint64_t WireReader::u64() { return number_of<std::uint64_t>(raw(8)); }

std::string WireReader::text() {
  const std::span<const std::byte> bytes = raw(u32());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

namespace {

void write_member(WireWriter& writer, const Member& member) {
  writer.text(member.host).u64(member.pid).text(member.address).u32(member.port);
}

Member read_member(WireReader& reader) {
  Member member;
  member.host = reader.text();
  member.pid = reader.u64();
  member.address = reader.text();
  member.port = reader.u32();
  if (member.host.size() > kMostHostText || member.address.size() > kMostAddressText) {
    throw WireError("a name that is too long");
  }
  if (member.port > 65'535) throw WireError("a port that is none");
  return member;
}

}  // namespace

Bytes encode(const Hello& hello) {
  WireWriter writer;
  writer.text(hello.version).u32(hello.rank);  // in every protocol
  writer.u32(hello.ranks).u64(hello.run);
  write_member(writer, hello.member);
  writer.u32(static_cast<std::uint32_t>(hello.agreed.size()));
  for (const std::string& line : hello.agreed) writer.text(line);
  const Bytes payload = writer.take();
  if (payload.size() > kHelloBytes) {
    throw InputError(fmt::format("what the ranks must agree on has {} bytes; expected at most {}",
                                 payload.size(), kHelloBytes));
  }
  WireWriter whole;
  whole.raw(std::as_bytes(std::span(kMagic))).u32(hello.protocol);
  whole.u32(static_cast<std::uint32_t>(payload.size())).raw(payload);
  return whole.take();
}

std::optional<Preamble> decode_preamble(std::span<const std::byte, kPreambleBytes> bytes) {
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) return std::nullopt;
  const Preamble preamble{number_of<std::uint32_t>(bytes.subspan(8)),
                          number_of<std::uint32_t>(bytes.subspan(12))};
  if (preamble.bytes > kHelloBytes) return std::nullopt;
  return preamble;
}

Hello decode_hello(std::uint32_t protocol, std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  Hello hello;
  hello.protocol = protocol;
  hello.version = reader.text();
  hello.rank = reader.u32();
  if (protocol != kMeshProtocol) return hello;
  hello.ranks = reader.u32();
  hello.run = reader.u64();
  hello.member = read_member(reader);
  for (std::uint32_t lines = reader.u32(); lines != 0; --lines) {
    hello.agreed.push_back(reader.text());
  }
  reader.end();
  return hello;
}

void throw_verdict(const JoinVerdict& verdict) {
  const std::string message = sched::shown(verdict.message);  // in which others may have a say
  if (verdict.exit_code == 1) throw PeerLost(verdict.rank, message);
  if (verdict.exit_code == 2) throw InputError(message);
  throw EnvironmentError(message);
}

Bytes encode(const JoinVerdict& verdict) {
  return WireWriter().u32(verdict.exit_code).u32(verdict.rank).text(verdict.message).take();
}

JoinVerdict decode_verdict(std::span<const std::byte> bytes, std::uint32_t ranks) {
  WireReader reader(bytes);
  JoinVerdict verdict;
  verdict.exit_code = reader.u32();
  if (verdict.exit_code < 1 || verdict.exit_code > 3) throw WireError("an exit code that is none");
  verdict.rank = reader.u32();
  if (verdict.rank >= ranks) throw WireError("the loss of a rank that is none");
  verdict.message = reader.text();
  reader.end();
  return verdict;
}

std::optional<JoinVerdict> disagreement(const Hello& one, const Hello& other) {
  if (one.version != other.version || one.protocol != other.protocol) {
    return JoinVerdict{
        3, 0,
        fmt::format("rank {} is slackline {} (mesh protocol {}), rank {} is {} (mesh "
                    "protocol {}); install the same version for all ranks",
                    one.rank, one.version, one.protocol, other.rank, other.version,
                    other.protocol)};
  }
  if (one.ranks != other.ranks) {
    return JoinVerdict{2, 0,
                       fmt::format("rank {} was started as one of {} ranks, rank {} as one of {}; "
                                   "expected the same number at all ranks",
                                   one.rank, one.ranks, other.rank, other.ranks)};
  }
  for (std::size_t i = 0; i < std::max(one.agreed.size(), other.agreed.size()); ++i) {
    const std::string mine = i < one.agreed.size() ? one.agreed[i] : "nothing more";
    const std::string its = i < other.agreed.size() ? other.agreed[i] : "nothing more";
    if (mine != its) {
      return JoinVerdict{2, 0,
                         fmt::format("ranks disagree: rank {} has {}, rank {} has {}; expected the "
                                     "same at all ranks",
                                     one.rank, mine, other.rank, its)};
    }
  }
  return std::nullopt;
}

Bytes encode(std::span<const Member> members) {
  WireWriter writer;
  writer.u32(static_cast<std::uint32_t>(members.size()));
  for (const Member& member : members) write_member(writer, member);
  return writer.take();
}

std::vector<Member> decode_members(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  std::vector<Member> members;
  for (std::uint32_t count = reader.u32(); count != 0; --count) {
    members.push_back(read_member(reader));
  }
  reader.end();
  return members;
}

Bytes encode(const Loss& loss) {
  return WireWriter().u32(loss.rank).u32(loss.seen_by).text(loss.how).take();
}

Loss decode_loss(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  Loss loss;
  loss.rank = reader.u32();
  loss.seen_by = reader.u32();
  loss.how = sched::shown(reader.text());
  reader.end();
  return loss;
}

std::array<std::byte, kHeaderBytes> encode(const FrameHeader& header) {
  const Bytes bytes = WireWriter()
                          .u32(static_cast<std::uint32_t>(header.kind))
                          .u32(header.topic)
                          .u64(header.left)
                          .take();
  std::array<std::byte, kHeaderBytes> fixed{};
  std::copy(bytes.begin(), bytes.end(), fixed.begin());
  return fixed;
}

FrameHeader decode_header(std::span<const std::byte, kHeaderBytes> bytes) {
  WireReader reader(bytes);
  FrameHeader header;
  const std::uint32_t kind = reader.u32();
  if (!is_kind(kind)) throw WireError("a frame of no known kind");
  header.kind = static_cast<FrameKind>(kind);
  header.topic = reader.u32();
  header.left = reader.u64();
  const std::uint64_t longest = is_long(header.kind) ? kMessageBytes : kPartBytes;
  if (header.left > longest) throw WireError("a frame that is too long");
  return header;
}

Bytes encode_frame(FrameKind kind, std::span<const std::byte> payload) {
  return WireWriter().raw(encode(FrameHeader{kind, 0, payload.size()})).raw(payload).take();
}

void FrameReader::feed(std::span<const std::byte> bytes, std::vector<Frame>& frames) {
  while (!bytes.empty()) {
    if (!in_part_) {
      const std::size_t count = std::min(bytes.size(), kHeaderBytes - header_count_);
      std::copy_n(bytes.begin(), count, header_bytes_.begin() + header_count_);
      bytes = bytes.subspan(count);
      header_count_ += count;
      if (header_count_ < kHeaderBytes) return;
      begin_part();
    } else {
      const std::size_t count = std::min<std::uint64_t>(bytes.size(), part_left_);
      Bytes& payload = is_long(header_.kind) ? long_.payload : short_.payload;
      payload.insert(payload.end(), bytes.begin(), bytes.begin() + count);
      bytes = bytes.subspan(count);
      part_left_ -= count;
    }
    if (part_left_ == 0) end_part(frames);
  }
}

void FrameReader::begin_part() {
  header_ = decode_header(header_bytes_);
  header_count_ = 0;
  in_part_ = true;
  part_left_ = std::min<std::uint64_t>(header_.left, kPartBytes);
  if (!is_long(header_.kind)) {
    short_ = Frame{header_.kind, header_.topic, {}};
  } else if (long_left_ == 0) {
    long_ = Frame{header_.kind, header_.topic, {}};
    long_left_ = header_.left;
    // At once: growing would copy what is there, again and again.
    long_.payload.reserve(std::min(header_.left, kReserved));
  } else if (header_.kind != long_.kind || header_.topic != long_.topic ||
             header_.left != long_left_) {
    throw WireError("a part that does not follow the one before");
  }
}

void FrameReader::end_part(std::vector<Frame>& frames) {
  in_part_ = false;
  if (!is_long(header_.kind)) {
    frames.push_back(std::move(short_));
    return;
  }
  long_left_ -= std::min<std::uint64_t>(header_.left, kPartBytes);
  if (long_left_ == 0) frames.push_back(std::move(long_));
}

}  // namespace slackline::hw
