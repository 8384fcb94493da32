// The schedule that a trace is of.
#pragma once

#include <optional>
#include <string>

#include "cli/console.h"
#include "cli/schedule_source.h"
#include "sched/trace.h"

namespace slackline::cli {

/// Loads `given`, a spec or a file, or else what the trace says that it was made from; its digest
/// must be the trace's. Without proof: nothing is run. Throws InputError, naming `file`, the
/// trace's, and --schedule.
LoadedSchedule schedule_of(const sched::Trace& trace, const std::string& file,
                           const std::optional<std::string>& given, Console& console);

}  // namespace slackline::cli
