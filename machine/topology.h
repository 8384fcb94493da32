// The network of a platform as plain data. What each kind of topology is told stands in a file pair
// of its own, in topology/.
#pragma once

#include <cstdint>
#include <variant>

#include "base/units.h"
#include "machine/topology/dragonfly.h"
#include "machine/topology/fat_tree.h"
#include "machine/topology/simgrid_file.h"
#include "machine/topology/star.h"
#include "machine/topology/torus.h"
#include "machine/topology/two_level.h"

namespace slackline::machine {

/// A network of more hosts, or of more links between switches, is refused.
inline constexpr std::uint32_t kMaxHosts = 1u << 20;
inline constexpr std::uint32_t kMaxInnerLinks = 1u << 23;

using Shape = std::variant<Star, TwoLevel, FatTree, Dragonfly, Torus, SimgridFile>;

/// The alternatives of Shape, in order.
enum class TopologyKind : std::uint8_t {
  kStar,
  kTwoLevel,
  kFatTree,
  kDragonfly,
  kTorus,
  kSimgridFile,
};

/// Which of several ways the messages from one host to another take: all of them the same, as those
/// of one queue pair do, unless packets are sprayed.
struct Routing {
  enum class Kind : std::uint8_t {
    kOwn,       // the topology's own rule
    kEcmp,      // of equally short ways one, by a hash of the two hosts
    kValiant,   // by way of a third place, drawn for the two hosts (Valiant, 1982)
    kSpray,     // over all equally short ways at once, as much over each
    kAdaptive,  // of equally short ways the least loaded, when a message starts
  };
  Kind kind = Kind::kOwn;
  std::uint64_t seed = 0;  // of hash and draw
  friend bool operator==(const Routing&, const Routing&) = default;
};

struct Topology {
  Shape shape;
  sched::Rate link_rate{};     // of one cable between two switches, each way; 0: the NIC's
  sched::Time hop_latency{0};  // of each switch after the first on a way
  Routing routing = {};

  TopologyKind kind() const { return static_cast<TopologyKind>(shape.index()); }
  friend bool operator==(const Topology&, const Topology&) = default;
};

}  // namespace slackline::machine
