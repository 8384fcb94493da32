// Ranks that are switches of the network, which copy messages and add them up on their way. What
// that costs is stated in docs/architecture.md, "Switches that take part".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sched/ids.h"

namespace slackline::machine {

/// The last ranks of a schedule sit on these switches, in this order; all others are on hosts.
struct Switches {
  std::vector<std::string> names;  // as the topology calls them; none twice

  bool any() const { return !names.empty(); }
  std::uint32_t count() const { return static_cast<std::uint32_t>(names.size()); }
  /// Whether that rank of so many is a switch.
  bool holds(sched::RankId rank, std::uint32_t ranks) const {
    return any() && std::uint64_t{rank.value} + count() >= ranks;
  }
  friend bool operator==(const Switches&, const Switches&) = default;
};

inline constexpr std::uint32_t kMaxSwitches = 65'536;

/// "rack-0+rack-1+core", or "rack-0..1+core" for the same. Throws InputError, naming `what`, on an
/// empty name, a name that stands twice, and more than kMaxSwitches.
Switches parse_switches(std::string_view text, std::string_view what);
/// Every name, joined by +; nothing if there is none.
std::string format_switches(const Switches& switches);

struct Platform;

/// Throws Unsupported, naming `who`, if ranks of the platform are switches.
void require_no_switches(const Platform& platform, std::string_view who);

}  // namespace slackline::machine
