#include "hw/verbs/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace slackline::hw {
namespace {

// Begins every address; also tells machines of another byte order apart.
constexpr std::uint32_t kMagic = 0x534c5642;

struct AddressHead {
  std::uint32_t magic = kMagic;
  std::uint32_t ends = 0;
  VerbsPort port;
};
static_assert(std::is_trivially_copyable_v<AddressHead>);
static_assert(std::is_trivially_copyable_v<VerbsEndAddress>);

AddressHead head_of(const Address& address, std::uint32_t rank) {
  AddressHead head;
  if (address.size() >= sizeof head) std::memcpy(&head, address.data(), sizeof head);
  if (address.size() < sizeof head || head.magic != kMagic ||
      address.size() != sizeof head + head.ends * sizeof(VerbsEndAddress)) {
    throw EnvironmentError(fmt::format(
        "verbs: what rank {} sent is not an address; expected the same Slackline, and a machine of "
        "the same kind",
        rank));
  }
  return head;
}

VerbsEndAddress end_at(const Address& address, std::uint32_t index) {
  VerbsEndAddress end;
  std::memcpy(&end, address.data() + sizeof(AddressHead) + index * sizeof end, sizeof end);
  return end;
}

}  // namespace

Address pack_address(const VerbsPort& port, std::span<const VerbsEndAddress> ends) {
  const AddressHead head{kMagic, static_cast<std::uint32_t>(ends.size()), port};
  Address address(sizeof head + ends.size_bytes());
  std::memcpy(address.data(), &head, sizeof head);
  if (!ends.empty()) std::memcpy(address.data() + sizeof head, ends.data(), ends.size_bytes());
  return address;
}

VerbsPort port_of(const Address& address, std::uint32_t rank) {
  return head_of(address, rank).port;
}

VerbsEndAddress other_end(const Address& address, const ChannelEnd& end) {
  const AddressHead head = head_of(address, end.peer);
  for (std::uint32_t e = 0; e < head.ends; ++e) {
    const VerbsEndAddress other = end_at(address, e);
    if (other.channel == end.channel && (other.initiates != 0) != end.initiates) return other;
  }
  throw InternalError(fmt::format("rank {} has no end of channel {}", end.peer, end.channel));
}

void require_matches(std::span<const Address> addresses) {
  struct Sides {
    std::optional<std::uint32_t> from;
    std::optional<std::uint32_t> to;
  };
  std::map<std::uint32_t, Sides> channels;
  std::vector<VerbsPort> ports(addresses.size());
  for (std::uint32_t rank = 0; rank < addresses.size(); ++rank) {
    if (addresses[rank].empty()) continue;
    const AddressHead head = head_of(addresses[rank], rank);
    ports[rank] = head.port;
    for (std::uint32_t e = 0; e < head.ends; ++e) {
      const VerbsEndAddress end = end_at(addresses[rank], e);
      Sides& sides = channels[end.channel];
      (end.initiates != 0 ? sides.from : sides.to) = rank;
    }
  }
  for (const auto& [number, sides] : channels) {
    if (!sides.from || !sides.to) continue;
    const std::uint32_t one = std::min(*sides.from, *sides.to);
    const std::uint32_t other = std::max(*sides.from, *sides.to);
    if (const auto why = mismatch(one, ports[one], other, ports[other])) {
      throw EnvironmentError(*why);
    }
  }
}

}  // namespace slackline::hw
