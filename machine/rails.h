// Several NICs a host: which of them a channel takes, and where in the network they are. What they
// cost is stated in docs/architecture.md, "Hosts of several NICs".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sched/schedule.h"

namespace slackline::machine {

/// One NIC of one machine: the machine's number times the NICs of a machine, and the rail. Other
/// ports have the numbers after them: Wiring::nic_count().
using NicId = sched::Id<struct NicTag>;

/// Which of its machine's NICs a channel takes at each end. A channel is a queue pair, which is of
/// one port: all of its messages take the same.
enum class RailRule : std::uint8_t {
  kRank,     // the rank's own: its number within its machine, modulo rails
  kChannel,  // the channel's number among those between its two ranks, modulo rails
  kPair,     // the two ranks' numbers and the channel's, added, modulo rails
};

/// Which leaf switches a host's NICs are on.
enum class RailWiring : std::uint8_t {
  kOneLeaf,    // all on one
  kOptimized,  // each on another: rail r of all hosts of a group is on leaf r of that group
};

struct Rails {
  std::uint32_t count = 1;  // NICs of one machine, ≥ 1
  RailRule rule = RailRule::kRank;
  RailWiring wiring = RailWiring::kOneLeaf;

  bool are_several() const { return count > 1; }
  /// The rail of a channel at the end where `rank` is, which is the `place`-th rank of its machine.
  /// `number` is the channel's in numbers_for_rails().
  std::uint32_t of(std::uint32_t place, sched::RankId rank, sched::RankId peer,
                   std::uint32_t number) const {
    switch (rule) {
      case RailRule::kRank:
        return place % count;
      case RailRule::kChannel:
        return number % count;
      case RailRule::kPair:
        break;
    }
    return static_cast<std::uint32_t>((std::uint64_t{rank.value} + peer.value + number) % count);
  }
  friend bool operator==(const Rails&, const Rails&) = default;
};

/// "rank", "channel", "pair". Throws InputError, naming `what`.
RailRule parse_rail_rule(std::string_view text, std::string_view what);
std::string_view name(RailRule rule);

/// "one-leaf", "rail-optimized". Throws InputError, naming `what`.
RailWiring parse_rail_wiring(std::string_view text, std::string_view what);
std::string_view name(RailWiring wiring);

/// By channel of the schedule: how many channels from its source to its destination stand before
/// it, modulo rails. Those that carry the credits of a channel of messages do not count, and have
/// that channel's number, so that credits take the rail of what they are for. All 0 where the rule
/// does not ask.
std::vector<std::uint32_t> numbers_for_rails(const sched::Schedule& schedule, const Rails& rails);

/// Where in a network the NICs of hosts are. A network's ends stand in runs of `leaf_ends`, those
/// of one leaf switch.
struct RailEnds {
  Rails rails;
  std::uint32_t leaf_ends = 1;

  std::uint32_t of(std::uint32_t host, std::uint32_t rail) const {
    if (rails.wiring == RailWiring::kOneLeaf || !rails.are_several()) {
      return host * rails.count + rail;
    }
    const std::uint32_t group = host / leaf_ends;
    return (group * rails.count + rail) * leaf_ends + host % leaf_ends;
  }
};

}  // namespace slackline::machine
