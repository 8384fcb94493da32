// The schedule that a trace, or a queue program, is of.
#pragma once

#include <optional>
#include <string>

#include "cli/console.h"
#include "cli/schedule_source.h"
#include "sched/trace.h"

namespace slackline::cli {

/// Loads `given`, a spec or a file, or else what the trace says that it was made from: a file may
/// also stand beside `file`, the trace's. Its digest must be the trace's. Without proof: nothing is
/// run. Throws InputError, naming `file` and --schedule.
LoadedSchedule schedule_of(const sched::Trace& trace, const std::string& file,
                           const std::optional<std::string>& given, const MemoryOption& memory,
                           Console& console);

/// The same for anything that knows its schedule's digest and what made it.
LoadedSchedule schedule_of(sched::Digest digest, const std::string& title, const std::string& file,
                           const std::optional<std::string>& given, const MemoryOption& memory,
                           Console& console);

}  // namespace slackline::cli
