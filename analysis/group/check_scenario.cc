#include "analysis/group/check_scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "machine/completions.h"
#include "machine/congestion.h"
#include "machine/run/adaptive_ways.h"
#include "machine/switches.h"

namespace slackline::analysis {
namespace {

// The ways between all pairs are kept.
constexpr std::uint32_t kMostMembers = 1024;

}  // namespace

void check_scenario(const GroupScenario& scenario, const machine::Platform& platform,
                    const machine::DelayPlan& delays) {
  machine::require_no_switches(platform, "group");
  machine::require_fixed_ways(platform, "group");
  machine::require_program_sees(platform, "group");
  machine::require_no_congestion(platform, "group");
  if (platform.node.qp_lock.count() > 0) {
    throw Unsupported(
        "group: posts that take a lock, as words of members would too; expected a platform without "
        "qp_lock");
  }
  if (scenario.shape.members > kMostMembers) {
    throw Unsupported(fmt::format("group: {} members; expected at most {} of one that is simulated",
                                  scenario.shape.members, kMostMembers));
  }
  if (scenario.messages.empty()) throw InputError("group: no messages; expected at least one");
  const auto is_before = [](const GroupLateness& late) {
    return std::min(late.hears, late.sees) < sched::Time(0);
  };
  if (!scenario.lateness.empty() && (scenario.lateness.size() != scenario.shape.members ||
                                     std::ranges::any_of(scenario.lateness, is_before))) {
    throw InputError("group: how late members are; expected times from 0 on for each of them");
  }
  if (!delays.failures.empty()) {
    throw Unsupported("group: a delay plan with failures; expected a kill, and no failure beside");
  }
  if (!scenario.kill) return;
  const GroupKill& kill = *scenario.kill;
  const std::uint32_t members = scenario.shape.members;
  if (kill.member >= members) {
    throw InputError(
        fmt::format("kill: rank {} is no member; expected 0 to {}", kill.member, members - 1));
  }
  if (kill.at.has_value() == kill.after.has_value() || kill.after == 0u) {
    throw InputError("kill: expected a time, or a number of operations from 1 on");
  }
  if (!kill.seen_by) return;
  for (const std::uint32_t m : *kill.seen_by) {
    if (m < members && m != kill.member) continue;
    throw InputError(fmt::format(
        "kill: rank {} cannot see that rank {} is gone; expected another member", m, kill.member));
  }
}

}  // namespace slackline::analysis
