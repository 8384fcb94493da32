#include "hw/verbs/device_choice.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace slackline::hw {
namespace {

constexpr std::string_view kNoDevice =
    "verbs: no RDMA device here (`ibv_devices` lists them). A NIC needs its kernel driver and its "
    "provider (Debian: rdma-core, ibverbs-providers); any Ethernet interface can be one in "
    "software: modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0";

// enum ibv_node_type and ibv_transport_type, which their own header keeps to those that need it.
constexpr int kNodeCa = 1;
constexpr int kNodeRnic = 4;
constexpr int kTransportIb = 0;
constexpr int kTransportIwarp = 1;

bool has_any(const PortDescription& port, std::span<const Gid> of_host) {
  return std::any_of(port.gids.begin(), port.gids.end(), [&](const PortGid& own) {
    return std::find(of_host.begin(), of_host.end(), own.gid) != of_host.end();
  });
}

bool is_usable(const PortDescription& port) {
  return port.port != 0 && port.active && why_unusable(port.kind).empty();
}

bool is_link_local(const Gid& gid) { return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80; }

// "rxe0, siw0": each device once.
std::string names_of(std::span<const PortDescription> ports) {
  std::string names;
  for (std::size_t p = 0; p < ports.size(); ++p) {
    if (p != 0 && ports[p].device == ports[p - 1].device) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", ports[p].device);
  }
  return names;
}

// "; no port of rxe0 is active; siw0 is iWARP, whose …": for each device that `wanted` may be.
std::string why_none(std::span<const PortDescription> ports, const PortName& wanted) {
  std::string text;
  for (std::size_t p = 0; p < ports.size(); ++p) {
    const PortDescription& port = ports[p];
    if (!wanted.device.empty() && port.device != wanted.device) continue;
    if (p != 0 && port.device == ports[p - 1].device) continue;
    if (const auto why = why_unusable(port.kind); !why.empty()) {
      text += fmt::format("; {} is {}", port.device, why);
    } else if (!port.trouble.empty()) {
      text += fmt::format("; {} cannot be opened: {}", port.device, port.trouble);
    } else if (wanted.port != 0) {
      text += fmt::format("; {} port {} is not active", port.device, wanted.port);
    } else {
      text += fmt::format("; no port of {} is active", port.device);
    }
  }
  return text;
}

[[noreturn]] void throw_none(std::span<const PortDescription> ports, const PortName& wanted) {
  if (ports.empty()) throw EnvironmentError(std::string(kNoDevice));
  const std::string why = why_none(ports, wanted);
  if (why.empty()) {
    throw EnvironmentError(fmt::format("verbs: no RDMA device '{}' here; there are: {}",
                                       wanted.device, names_of(ports)));
  }
  throw EnvironmentError(fmt::format(
      "verbs: no active port{} (`ibv_devinfo` shows their states; Ethernet: ip link set … up; "
      "InfiniBand: its cable, and a subnet manager)",
      why));
}

std::size_t choose_named(std::span<const PortDescription> ports, const PortName& wanted,
                         std::span<const Gid> of_host) {
  std::optional<std::size_t> first;
  for (std::size_t p = 0; p < ports.size(); ++p) {
    const PortDescription& port = ports[p];
    if (!wanted.device.empty() && port.device != wanted.device) continue;
    if (wanted.port != 0 && port.port != 0 && port.port != wanted.port) continue;
    const std::string_view why = why_unusable(port.kind);
    if (!wanted.device.empty() && !why.empty()) {
      throw EnvironmentError(
          fmt::format("verbs: {} is {}; expected an InfiniBand or RoCE device, or --transport tcp",
                      port.device, why));
    }
    if (!is_usable(port)) continue;
    if (has_any(port, of_host)) return p;
    if (!first) first = p;
  }
  if (!first) throw_none(ports, wanted);
  return *first;
}

std::size_t choose_nearest(std::span<const PortDescription> ports, std::uint32_t which) {
  std::vector<std::size_t> nearest;
  for (std::size_t p = 0; p < ports.size(); ++p) {
    if (!is_usable(ports[p])) continue;
    if (!nearest.empty() && ports[p].distance > ports[nearest[0]].distance) continue;
    if (!nearest.empty() && ports[p].distance < ports[nearest[0]].distance) nearest.clear();
    nearest.push_back(p);
  }
  if (nearest.empty()) throw_none(ports, {});
  return nearest[which % nearest.size()];
}

int worth_of(const PortGid& own, bool ethernet, std::span<const Gid> of_host) {
  // InfiniBand's first GID is the port's own.
  if (!ethernet) return own.index == 0 ? 1 : 0;
  int worth = 0;
  if (own.roce == 2) worth += 8;
  if (std::find(of_host.begin(), of_host.end(), own.gid) != of_host.end()) worth += 4;
  if (!is_link_local(own.gid)) worth += 2;
  if (is_ipv4(own.gid)) worth += 1;
  return worth;
}

}  // namespace

PortKind kind_of_port(int node, int transport, bool ethernet, std::string_view device) {
  if (node == kNodeRnic || transport == kTransportIwarp) return PortKind::kIwarp;
  if (node == kNodeCa && transport == kTransportIb) {
    return ethernet ? PortKind::kRoce : PortKind::kInfiniBand;
  }
  // EFA has no kind of its own in libibverbs; udev may have renamed it to its place (rdmap0s6).
  return device.starts_with("efa") || device.starts_with("rdmap") ? PortKind::kEfa
                                                                  : PortKind::kOther;
}

std::string_view why_unusable(PortKind kind) {
  switch (kind) {
    case PortKind::kInfiniBand:
    case PortKind::kRoce:
      return "";
    case PortKind::kIwarp:
      return "iWARP, whose queue pairs are connected by its own connection manager alone, and "
             "which "
             "has no atomics";
    case PortKind::kEfa:
      return "EFA, which has no reliable queue pairs";
    case PortKind::kOther:
      break;
  }
  return "neither InfiniBand nor RoCE";
}

std::size_t choose_port(std::span<const PortDescription> ports, const VerbsOptions& options,
                        std::span<const Gid> of_host) {
  std::string text = options.device;
  if (!options.device_map.empty()) {
    text = options.device_map[options.rank_on_host % options.device_map.size()];
  }
  const PortName wanted = text.empty() ? PortName{} : parse_port_name(text, "verbs device");
  if (ports.empty()) throw EnvironmentError(std::string(kNoDevice));
  if (options.nearest) return choose_nearest(ports, options.rank_on_nodes);
  return choose_named(ports, wanted, of_host);
}

std::optional<PortGid> choose_gid(std::span<const PortGid> gids, bool ethernet,
                                  std::optional<std::uint8_t> index, std::span<const Gid> of_host,
                                  std::string_view port) {
  if (index) {
    std::string there;
    for (const PortGid& own : gids) {
      if (own.index == *index) return own;
      there += fmt::format("{}{} ({}{})", there.empty() ? "" : ", ", own.index, text_of(own.gid),
                           own.roce == 0 ? "" : fmt::format(", RoCE v{}", own.roce));
    }
    throw EnvironmentError(fmt::format("verbs: {} has no GID {} (--gid-index); it has {}", port,
                                       *index, there.empty() ? "none" : there));
  }
  std::optional<PortGid> best;
  int most = -1;
  for (const PortGid& own : gids) {
    const int worth = worth_of(own, ethernet, of_host);
    if (worth <= most) continue;
    most = worth;
    best = own;
  }
  if (!best && ethernet) {
    throw EnvironmentError(fmt::format(
        "verbs: {} has no GID; its network interface needs an address (ip addr add …)", port));
  }
  return best;
}

std::uint16_t choose_partition(std::span<const std::uint16_t> keys, const PartitionChoice& choice,
                               std::string_view port) {
  constexpr std::uint16_t kWhich = 0x7fff;  // the uppermost bit says full member
  std::optional<std::uint16_t> found;
  std::string there;
  for (std::uint16_t i = 0; i < keys.size(); ++i) {
    if ((keys[i] & kWhich) == 0) continue;  // an empty entry
    there += fmt::format("{}{} (0x{:04x})", there.empty() ? "" : ", ", i, keys[i]);
    if (!choice.key && i == choice.index) return i;
    if (!choice.key || (keys[i] & kWhich) != (*choice.key & kWhich)) continue;
    if (keys[i] == *choice.key) return i;
    if (!found) found = i;
  }
  if (found) return *found;
  throw EnvironmentError(
      fmt::format("verbs: {} has no partition key {} (--pkey); it has {}", port,
                  choice.key ? fmt::format("0x{:04x}", *choice.key) : fmt::to_string(choice.index),
                  there.empty() ? "none" : there));
}

bool is_ipv4(const Gid& gid) {
  static constexpr std::array<std::uint8_t, 12> kPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kPrefix.begin(), kPrefix.end(), gid.begin());
}

std::string text_of(const Gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool v4 = is_ipv4(gid);
  inet_ntop(v4 ? AF_INET : AF_INET6, gid.data() + (v4 ? 12 : 0), text.data(), text.size());
  return text.data();
}

}  // namespace slackline::hw
