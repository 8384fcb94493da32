// What a schedule must be to be carried out, and how its run is named and judged when it has ended.
#pragma once

#include <cstddef>
#include <string_view>

#include "machine/paths.h"
#include "machine/setting.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::machine {

/// Throws InputError on a message without its other half, a poll that looks at other bytes than its
/// put's last (sched/flags.h) or a region that nothing decides: what a run could neither finish nor
/// explain. Returns request_count(), which it finds on its way.
std::size_t require_executable(const sched::Schedule& schedule);

/// The length of Trace::request_s and Trace::results: every operation's place if there are gets or
/// atomics, else 0.
std::size_t request_count(const sched::Schedule& schedule);

/// A trace that says of what run it is, and nothing else yet.
sched::Trace trace_of(const Setting& setting, std::string_view engine);

/// Throws InputError naming the first operation that never finished, unless something failed.
void require_finished(const sched::Schedule& schedule, const sched::Trace& trace,
                      const Paths& paths);

}  // namespace slackline::machine
