// Any bytes, read as what ranks of a session, of calls, of a multicast and of a gathering tell each
// other, and what agents and launchers say. Nothing may be read beyond its end, and what is read
// must survive being written. (Frames, records, facts and group words: fuzz_frames.cc.)
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/call/service_words.h"
#include "hw/launch/agent_words.h"
#include "hw/launch/pmi1_wire.h"
#include "hw/leader_words.h"
#include "hw/mesh/gathering.h"
#include "hw/mesh/wire.h"
#include "hw/multicast/address.h"
#include "hw/multicast/words.h"
#include "hw/run_words.h"

namespace {

namespace hw = slackline::hw;
using hw::ByteReader;
using Bytes = std::vector<std::byte>;

void require(bool held) {
  if (!held) std::abort();
}

// What is read is written, and read again.
template <class Read>
void come_back(std::span<const std::byte> bytes, const Read& read) {
  try {
    ByteReader reader(bytes);
    const Bytes written = encode(read(reader));
    ByteReader again(written);
    require(encode(read(again)) == written);
    again.end();
  } catch (const hw::BadBytes&) {
  }
}

void read_session(std::span<const std::byte> bytes, std::uint8_t how) {
  come_back(bytes, hw::read_run_greeting);
  come_back(bytes, [&](ByteReader& reader) {
    return hw::read_run_start(reader, {0, how % 2 != 0, false, false});
  });
  come_back(bytes, [&](ByteReader& reader) { return hw::read_rank_finish(reader, 1 + how); });
  come_back(bytes, [&](ByteReader& reader) { return hw::read_all_finished(reader, how); });
  come_back(bytes, hw::read_run_ends);
  come_back(bytes, [&](ByteReader& reader) { return hw::read_run_times(reader, how); });
}

void read_orders(std::span<const std::byte> bytes) {
  try {
    ByteReader reader(bytes);
    hw::LeaderOrder order = hw::read_leader_order(reader);
    if (order.word == hw::LeaderWord::kEnd) return;
    order.options.order.slack_s = order.slack_s;
    const Bytes written = hw::encode_run(order.options, order.schedule);
    ByteReader again(written);
    hw::LeaderOrder same = hw::read_leader_order(again);
    same.options.order.slack_s = same.slack_s;
    require(hw::encode_run(same.options, same.schedule) == written);
  } catch (const hw::BadBytes&) {
  } catch (const slackline::InputError&) {
    // The delay plan is a reader of its own.
  }
}

void read_calls(std::span<const std::byte> bytes, std::uint8_t how) {
  come_back(bytes, hw::read_service_request);
  const hw::ServiceRequest request{static_cast<hw::ServiceRequest::Kind>(how % 3), 4096, how / 3u};
  come_back(bytes, [&](ByteReader& reader) { return hw::read_service_answer(reader, request); });
}

void read_multicast(std::span<const std::byte> bytes) {
  try {
    const hw::MulticastWord word = hw::read_word(bytes);
    Bytes written(hw::kWordHeadBytes + word.missing.size() * sizeof(hw::PacketRun));
    require(hw::write_word(word, written) == written.size());
    written.insert(written.end(), word.payload.begin(), word.payload.end());
    require(written.size() == bytes.size());
    const hw::MulticastWord same = hw::read_word(written);
    require(same.kind == word.kind && same.message == word.message && same.bytes == word.bytes &&
            same.packets == word.packets && same.missing == word.missing);
  } catch (const hw::BadBytes&) {
  }
  try {
    ByteReader reader(bytes);
    const auto written = hw::pack(hw::read_multicast_address(reader));
    ByteReader again(written);
    require(hw::pack(hw::read_multicast_address(again)) == written);
  } catch (const hw::BadBytes&) {
  }
}

// Until it has all, or is told what is none of it.
void gather(std::span<const std::byte> bytes, std::uint8_t how) {
  const std::uint32_t ranks = 1 + how % 9;
  hw::Gathering gathering(how / 9 % ranks, ranks, bytes.first(bytes.size() / 2));
  try {
    while (!gathering.done()) gathering.take(bytes);
    require(std::move(gathering).all().size() == ranks);
  } catch (const hw::WireError&) {
  }
}

void read_agents(std::string_view text, std::uint8_t how) {
  hw::is_whole_order(text);
  try {
    const hw::AgentOrder order = hw::agent_order_of(text);
    require(hw::text_of(hw::agent_order_of(hw::text_of(order))) == hw::text_of(order));
  } catch (const slackline::InputError&) {
  }
  // It makes no difference in which pieces it comes.
  const auto read = [&](std::size_t piece) {
    hw::AgentReader reader;
    std::string said;
    try {
      for (std::size_t at = 0; at < text.size(); at += piece) reader.take(text.substr(at, piece));
    } catch (const slackline::EnvironmentError&) {
      said = "refused";
    }
    return said + reader.version().value_or("") + "," + reader.root().value_or("") + "," +
           reader.out() + "," + reader.err();
  };
  require(read(1 + how) == read(text.size() + 1));
}

void read_launcher(std::string_view text) {
  try {
    const hw::Pmi1Answer answer(std::string(text), "get", "get_result");
    require(!answer.value("value").empty());
    answer.number("rc");
  } catch (const slackline::EnvironmentError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t how = data[0];
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  read_session(bytes, how);
  read_orders(bytes);
  read_calls(bytes, how);
  read_multicast(bytes);
  gather(bytes, how);
  read_agents(text, how);
  read_launcher(text);
  return 0;
}
