#include "hw/multicast/address.h"

#include "hw/multicast/words.h"

namespace slackline::hw {
namespace {

constexpr std::uint64_t kMagic = 0x534c'4d43'4153'5431;  // begins every address

}  // namespace

Address pack(const MulticastAddress& address) {
  ByteWriter writer;
  writer.add(kMagic);
  writer.add(address.salt);
  writer.add(address.most_bytes);
  writer.add_list(std::span<const std::byte>(address.group));
  writer.add_list(std::span<const std::uint32_t>(address.flows));
  writer.add_list(std::span<const std::byte>(address.under));
  return writer.take();
}

MulticastAddress read_multicast_address(ByteReader& reader) {
  ByteReader::require(reader.get<std::uint64_t>() == kMagic,
                      "expected one of a rank that multicasts, too");
  MulticastAddress address;
  address.salt = reader.get<std::uint64_t>();
  address.most_bytes = reader.get<std::uint64_t>();
  ByteReader::require(address.most_bytes > sizeof(DatagramHead), "datagrams too small");
  address.group = reader.list<std::byte>();
  address.flows = reader.list<std::uint32_t>();
  address.under = reader.list<std::byte>();
  return address;
}

}  // namespace slackline::hw
