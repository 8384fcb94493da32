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
  if (!reader.at_end()) throw WireError("bytes behind a rank's facts");
  return facts;
}

}  // namespace slackline::hw
