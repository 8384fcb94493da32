// Timelines of a run for other programs, by name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/sink.h"
#include "sched/export/timeline_nics.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

struct TimelineEntry {
  std::string_view name;
  std::string_view summary;  // one line, for `list formats`
  /// Gives the file's contents to the sink, piece by piece, with the NICs of the run's hosts where
  /// they have several. Throws InputError if the trace is of another schedule.
  void (*write_to)(const Schedule&, const Trace&, const Sink&, const TimelineNics&);
  bool binary = false;  // the contents are no text

  /// The same in one piece.
  std::string write(const Schedule& schedule, const Trace& trace,
                    const TimelineNics& nics = {}) const;
};

/// Every format, in the order `list formats` shows them.
std::span<const TimelineEntry> timelines();

/// Nothing if there is no such format.
const TimelineEntry* find_timeline(std::string_view name);

/// Throws InputError unless the trace is of this very schedule.
void require_same(const Schedule& schedule, const Trace& trace);

}  // namespace slackline::sched
