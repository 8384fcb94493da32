// The facts of a rank as bytes.
#include <limits>
#include <string>
#include <string_view>

#include "hw/mesh/wire.h"
#include "hw/rank_facts.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kLongestText = 1024;

void write_text(WireWriter& writer, std::string_view text) {
  writer.text(text.substr(0, kLongestText));
}

std::string read_text(WireReader& reader) {
  std::string text = reader.text();
  if (text.size() > kLongestText) throw WireError("a fact that is too long");
  return text;
}

// −1 is a number like others there.
std::uint32_t on_wire(int number) { return static_cast<std::uint32_t>(number); }

int read_number(WireReader& reader) {
  const std::uint32_t value = reader.u32();
  if (value == on_wire(-1)) return -1;
  if (value > std::uint32_t{std::numeric_limits<std::int32_t>::max()}) {
    throw WireError("a core or a node that is none");
  }
  return static_cast<int>(value);
}

void write_counts(WireWriter& writer, const MulticastCounts& counts) {
  writer.u64(counts.sent).u64(counts.received).u64(counts.repeated);
  writer.u64(counts.early).u64(counts.repaired).u64(counts.repairing);
}

MulticastCounts read_counts(WireReader& reader) {
  MulticastCounts counts;
  for (std::uint64_t* const count : {&counts.sent, &counts.received, &counts.repeated,
                                     &counts.early, &counts.repaired, &counts.repairing}) {
    *count = reader.u64();
  }
  return counts;
}

}  // namespace

Bytes encode(const RankFacts& facts) {
  WireWriter writer;
  const TransportFacts& transport = facts.transport;
  for (const std::string* const text :
       {&facts.host, &facts.cores, &facts.kernel, &facts.version, &transport.provider,
        &transport.library, &transport.device, &transport.gid}) {
    write_text(writer, *text);
  }
  writer.u64(facts.process).u32(on_wire(facts.core)).u32(on_wire(facts.node));
  writer.u32(transport.port).u32(transport.mtu).u64(transport.link_bits_per_s);
  writer.u32(transport.multicast ? 1 : 0);
  if (transport.multicast) write_counts(writer, *transport.multicast);
  return writer.take();
}

RankFacts decode_rank_facts(std::span<const std::byte> bytes) {
  WireReader reader(bytes);
  RankFacts facts;
  TransportFacts& transport = facts.transport;
  for (std::string* const text :
       {&facts.host, &facts.cores, &facts.kernel, &facts.version, &transport.provider,
        &transport.library, &transport.device, &transport.gid}) {
    *text = read_text(reader);
  }
  facts.process = reader.u64();
  facts.core = read_number(reader);
  facts.node = read_number(reader);
  transport.port = reader.u32();
  transport.mtu = reader.u32();
  transport.link_bits_per_s = reader.u64();
  const std::uint32_t multicasts = reader.u32();
  if (multicasts > 1) throw WireError("a flag that is neither 0 nor 1");
  if (multicasts == 1) transport.multicast = read_counts(reader);
  if (!reader.at_end()) throw WireError("bytes behind a rank's facts");
  return facts;
}

}  // namespace slackline::hw
