// Timelines of a run for other programs, by name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

struct TimelineEntry {
  std::string_view name;
  std::string_view summary;  // one line, for `list formats`
  /// The file's contents. Throws InputError if the trace is of another schedule.
  std::string (*write)(const Schedule&, const Trace&);
};

/// Every format, in the order `list formats` shows them.
std::span<const TimelineEntry> timelines();

/// Nothing if there is no such format.
const TimelineEntry* find_timeline(std::string_view name);

/// Throws InputError unless the trace is of this very schedule.
void require_same(const Schedule& schedule, const Trace& trace);

}  // namespace slackline::sched
