// How the verbs transport uses a port of a NIC: what whoever makes it may choose. Known also where
// Slackline was built without libibverbs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace slackline::hw {

/// A port as people name it: "mlx5_0", "mlx5_0:1".
struct PortName {
  std::string device;
  int port = 0;  // 0: any of its ports
};

/// Throws InputError, naming `what`, for what is neither NAME nor NAME:PORT with PORT from 1 to
/// 255.
PortName parse_port_name(const std::string& text, const std::string& what);

/// An entry of the port's table of partition keys: one of the two.
struct PartitionChoice {
  std::optional<std::uint16_t> key;  // its uppermost bit says full member
  std::uint16_t index = 0;
};

struct VerbsOptions {
  /// "NAME" or "NAME:PORT"; empty: the port that has the GID of `host`, else the first active one.
  std::string device = {};
  /// Ethernet: an address of this host, a name or in digits. The port that has its GID is
  /// preferred, and of a port's GIDs that one. Empty: none is.
  std::string host = {};
  /// Ports that the ranks of a host take in turn, in place of `device`: each "NAME" or "NAME:PORT".
  std::vector<std::string> device_map = {};
  /// In place of both: all active ports that are nearest to the cores that the caller may run on.
  bool nearest = false;
  /// For `device_map`: which of the ranks of its host this is, from 0 on.
  std::uint32_t rank_on_host = 0;
  /// For `nearest`: which of those that run on cores of the same NUMA nodes, from 0 on.
  std::uint32_t rank_on_nodes = 0;

  std::optional<std::uint8_t> gid_index = {};     // none: as the port's GIDs and `host` suggest
  std::uint8_t traffic_class = 0;                 // of the global header; RoCE v2: DSCP · 4 + ECN
  std::uint8_t service_level = 0;                 // 0 … 15
  std::optional<PartitionChoice> partition = {};  // none: the first of the table
  std::uint32_t mtu = 0;  // bytes of a packet: 256, 512, …, 4096; 0: the port's
  /// How long a packet may stay without its acknowledgement before it is repeated: 4.096 us · 2^n.
  /// n from 1 to 31; none: such that the NIC goes on trying for `failure_timeout`.
  std::optional<std::uint8_t> ack_timeout = {};
  /// How often it is repeated before the peer is taken for lost, 0 … 7 (Soft-RoCE: 7 is for ever).
  std::uint8_t retries = 6;
  /// What ranks only copy goes as datagrams to a multicast group (hw/multicast/transport.h).
  bool multicast = false;
  /// How long this rank's port may be down.
  std::chrono::milliseconds failure_timeout{2'000};
};

/// 4.096 us · 2^exponent, in seconds.
double ack_timeout_s(std::uint8_t exponent);

/// The least exponent, from 1 to 31, of which ack_timeout_s() is `time_s` at least; 31 if none is.
std::uint8_t ack_exponent(double time_s);

/// What queue pairs are told: options.ack_timeout, or, without one, the least that makes all tries
/// together last for the failure timeout, and not less than 0.54 s each.
std::uint8_t ack_timeout_of(const VerbsOptions& options);

}  // namespace slackline::hw
