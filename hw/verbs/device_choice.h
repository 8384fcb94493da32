// Which port of which RDMA device a rank takes, and which of the port's GIDs: decided on what a
// machine's ports are, whoever has read that (hw/verbs/port_list.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/verbs_options.h"

namespace slackline::hw {

using Gid = std::array<std::uint8_t, 16>;

/// What a port speaks. Queue pairs of this transport live on the first two.
enum class PortKind : std::uint8_t { kInfiniBand, kRoce, kIwarp, kEfa, kOther };

/// `node` and `transport` as in enum ibv_node_type and ibv_transport_type, `ethernet` as the link
/// layer says; `device` is its name.
PortKind kind_of_port(int node, int transport, bool ethernet, std::string_view device);

/// "iWARP, whose …": why this transport cannot use such ports; empty if it can.
std::string_view why_unusable(PortKind kind);

/// One entry of a port's table.
struct PortGid {
  std::uint8_t index = 0;
  Gid gid{};
  std::uint8_t roce = 0;  // version, 1 or 2; 0: InfiniBand
};

struct PortDescription {
  std::string device;
  std::uint8_t port = 0;  // from 1 on; 0: nothing is known of the device's ports
  std::string trouble;    // then: why not, where somebody tried
  bool active = false;
  PortKind kind = PortKind::kInfiniBand;
  std::vector<PortGid> gids;
  /// From the cores that the rank may run on, as the kernel counts: 10 is their own node.
  int distance = 10;
};

/// The index of the port that options ask for. Of a device without a port named, and of all devices
/// if none is named, it is the active port that has one of `of_host` among its GIDs, else the first
/// active one; ports that the transport cannot use are passed over. Throws EnvironmentError if
/// there is no such port, or none of them is active, naming those that there are; if a device is
/// named that the transport cannot use, with the reason. InputError if the name can be no device's.
std::size_t choose_port(std::span<const PortDescription> ports, const VerbsOptions& options,
                        std::span<const Gid> of_host);

/// Of a port's GIDs: that of `index` if one is given; else on Ethernet RoCE v2's before v1's, those
/// `of_host` before others, link-local ones last, IPv4's first; on InfiniBand the first. Throws
/// EnvironmentError if the port has none such; `port` names it. Nothing for an InfiniBand port
/// without any, which goes by LID.
std::optional<PortGid> choose_gid(std::span<const PortGid> gids, bool ethernet,
                                  std::optional<std::uint8_t> index, std::span<const Gid> of_host,
                                  std::string_view port);

/// The index in a port's table of partition keys. A key that is there as a limited member's is
/// taken for its full one. Throws EnvironmentError if it has none such, with those that it has.
std::uint16_t choose_partition(std::span<const std::uint16_t> keys, const PartitionChoice& choice,
                               std::string_view port);

/// Whether the GID stands for an IPv4 address.
bool is_ipv4(const Gid& gid);
/// "10.9.0.1", "fe80::1".
std::string text_of(const Gid& gid);

}  // namespace slackline::hw
