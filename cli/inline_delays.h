// What goes wrong in a run, given on the command line: `--delay op=17,by=10us,of=lane`,
// `--slow-pair src=1,dst=2,rate=50Gbps`, `--straggler rank=3,slowdown=1.5`,
// `--noise uniform,low=0,high=2us,chance=10%`, `--link-rate link=rack-0.up,rate=20Gbps,at=1ms`,
// `--fail rank=3,at=2ms`, and of a group `--kill rank=3,at=2ms`. All throw InputError.
#pragma once

#include <optional>
#include <string_view>

#include "analysis/group/failure_run.h"
#include "machine/delay_plan.h"

namespace slackline::cli {

/// Adds `op=N,by=TIME` (with rank=R the rank it must be of) or `rank=R,step=N,by=TIME`, either with
/// `of=op|lane`.
void add_delay(machine::DelayPlan& plan, std::string_view text);

/// Adds `src=R,dst=R,rate=RATE`.
void add_slow_pair(machine::DelayPlan& plan, std::string_view text);

/// Adds `rank=R` with `slowdown=X`, `by=TIME` or both.
void add_straggler(machine::DelayPlan& plan, std::string_view text);

/// Adds `DISTRIBUTION,key=value,…` with the distribution's parameters; a trace's is `file=FILE`.
/// Also `rank=R` (default: all), `chance=X` (default: 1) and `of=lane|op` (default: lane).
void add_noise(machine::DelayPlan& plan, std::string_view text);

/// Adds `link=NAME,rate=RATE` with `at=TIME` (default: 0).
void add_link_rate(machine::DelayPlan& plan, std::string_view text);

/// Adds `link=NAME` or `rank=R` with `at=TIME` (default: 0).
void add_failure(machine::DelayPlan& plan, std::string_view text);

/// `rank=R` with `at=TIME` or `after=N`; also `detect=TIME` (default: 0) and
/// `seen-by=R+R|all|nobody` (default: all).
analysis::GroupKill parse_group_kill(std::string_view text);

/// `op=N,by=TIME`, either with `of=op|lane`; without an op, every one of them alone.
struct PropagatedDelay {
  std::optional<sched::OpId> op;
  sched::Time by{0};
  bool whole_lane = false;
};
PropagatedDelay parse_propagated(std::string_view text);

}  // namespace slackline::cli
