#include "hw/verbs/port.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace slackline::hw {
namespace {

constexpr std::uint16_t kWhichPartition = 0x7fff;
constexpr std::uint16_t kFullMember = 0x8000;

const char* link_of(const VerbsPort& port) {
  return port.ethernet != 0 ? "Ethernet" : "InfiniBand";
}

std::string_view name_of(const VerbsPort& port) {
  return {port.device.data(),
          static_cast<std::size_t>(std::find(port.device.begin(), port.device.end(), '\0') -
                                   port.device.begin())};
}

const char* family_of(const VerbsPort& port) { return is_ipv4(port.gid) ? "IPv4" : "IPv6"; }

}  // namespace

std::string describe(const VerbsPort& port) {
  if (port.ethernet == 0) {
    return fmt::format("{} port {}, InfiniBand, LID {}", name_of(port), port.port, port.lid);
  }
  return fmt::format("{} port {}, RoCE v{}, GID {} ({})", name_of(port), port.port, port.roce,
                     port.gid_index, text_of(port.gid));
}

std::optional<std::string> mismatch(std::uint32_t one_rank, const VerbsPort& one,
                                    std::uint32_t other_rank, const VerbsPort& other) {
  const auto differ = [&](const std::string& of_one, const std::string& of_other,
                          std::string_view why) {
    return fmt::format("verbs: rank {} has {} ({}), and rank {} {} ({}): {}", one_rank, of_one,
                       describe(one), other_rank, of_other, describe(other), why);
  };
  if (one.ethernet != other.ethernet) {
    return differ(link_of(one), link_of(other),
                  "no packet comes from one to the other; --device chooses among a host's ports");
  }
  if (one.roce != other.roce) {
    return differ(fmt::format("RoCE v{}", one.roce), fmt::format("RoCE v{}", other.roce),
                  "neither takes the other's packets; --gid-index chooses a GID of one version "
                  "at both");
  }
  if (one.roce == 2 && is_ipv4(one.gid) != is_ipv4(other.gid)) {
    return differ(family_of(one), family_of(other),
                  "their packets travel by different protocols; --gid-index chooses a GID of one "
                  "family at both, and an interface may lack an address of it");
  }
  const auto partition = [](const VerbsPort& port) {
    return fmt::format("partition key 0x{:04x}", port.partition);
  };
  if ((one.partition & kWhichPartition) != (other.partition & kWhichPartition)) {
    return differ(partition(one), partition(other),
                  "ports of different partitions do not hear each other; --pkey chooses");
  }
  if ((one.partition & other.partition & kWhichPartition) != 0 &&
      ((one.partition | other.partition) & kFullMember) == 0) {
    return differ(partition(one), partition(other),
                  "two limited members do not hear each other; --pkey chooses another, or the "
                  "subnet manager makes one a full member");
  }
  return std::nullopt;
}

std::uint8_t choose_mtu(std::uint32_t bytes, std::uint8_t active, std::string_view port) {
  if (bytes == 0) return active;
  std::uint8_t mtu = 1;
  while (mtu < 5 && mtu_bytes(mtu) < bytes) ++mtu;
  if (mtu_bytes(mtu) != bytes) throw InternalError("an MTU that there is not");
  if (mtu <= active) return mtu;
  throw EnvironmentError(fmt::format(
      "verbs: {} sends packets of {} bytes just now, and --mtu asks for {}; expected that at most "
      "(RoCE: a larger MTU of its network interface allows more)",
      port, mtu_bytes(active), bytes));
}

}  // namespace slackline::hw
