// Whether a run moved more over a link than the link can carry: then its figures are wrong.
#pragma once

#include <string_view>

#include "machine/paths.h"
#include "machine/setting.h"
#include "sched/trace.h"

namespace slackline::analysis {

/// Throws InternalError, naming the link, if the run's messages above the platform's interleave
/// size needed more of a shared link, at the highest rate that it had, than the whole makespan (but
/// for rounding). Smaller messages travel between the packets of these and share nothing. Looks at
/// no run that is `contended`, whose engine ignored sharing, that ended nowhere, or that lost
/// messages.
void require_within_capacity(const machine::Setting& setting, const machine::Paths& paths,
                             const sched::Trace& trace);
/// The same where the trace's makespan is known.
void require_within_capacity(const machine::Setting& setting, const machine::Paths& paths,
                             const sched::Trace& trace, double makespan_s);

/// The same of one link that carried `bytes` in `messages` at no more than `bytes_per_s`. `name`
/// names it in the error.
void require_within_capacity(std::string_view name, double bytes, double messages,
                             double bytes_per_s, double makespan_s);

}  // namespace slackline::analysis
