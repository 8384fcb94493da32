#include "sched/export/timeline.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/named.h"
#include "sched/export/events.h"
#include "sched/export/timeline_chrome.h"
#include "sched/export/timeline_csv.h"
#include "sched/export/timeline_paje.h"
#include "sched/export/timeline_perfetto.h"
#include "sched/export/timeline_svg.h"

namespace slackline::sched {
namespace {

// Of formats that are made as one text.
template <std::string (*write)(const Schedule&, const Trace&, const TimelineNics&)>
void whole(const Schedule& schedule, const Trace& trace, const Sink& out,
           const TimelineNics& nics) {
  out(write(schedule, trace, nics));
}

// Of those that show no NICs, too.
template <std::string (*write)(const Schedule&, const Trace&)>
void without_nics(const Schedule& schedule, const Trace& trace, const Sink& out,
                  const TimelineNics&) {
  out(write(schedule, trace));
}

// A new format is one line here.
constexpr std::array kTimelines = {
    TimelineEntry{"chrome", "Chrome's trace events, for Perfetto", whole<write_chrome_timeline>},
    TimelineEntry{"perfetto", "Perfetto's own format, binary and a quarter of the size",
                  write_perfetto_timeline, true},
    TimelineEntry{"paje", "a Paje trace, for ViTE and PajeNG", write_paje_timeline},
    TimelineEntry{"csv", "one row per operation, for pandas", without_nics<write_csv_timeline>},
    TimelineEntry{"svg", "a picture, rank by time, of up to 20,000 operations",
                  whole<write_svg_timeline>},
    TimelineEntry{"events-dot", "export's events-dot with times",
                  without_nics<write_timed_events_dot>},
    TimelineEntry{"events-graphml", "export's events-graphml with times",
                  without_nics<write_timed_events_graphml>},
};

}  // namespace

std::string TimelineEntry::write(const Schedule& schedule, const Trace& trace,
                                 const TimelineNics& nics) const {
  std::string out;
  write_to(
      schedule, trace, [&out](std::string_view piece) { out += piece; }, nics);
  return out;
}

std::span<const TimelineEntry> timelines() { return kTimelines; }

const TimelineEntry* find_timeline(std::string_view name) {
  return base::find_named(kTimelines, name);
}

void require_same(const Schedule& schedule, const Trace& trace) {
  if (trace.schedule == schedule.digest() && trace.ops.size() == schedule.op_count()) return;
  throw InputError(
      fmt::format("the trace is of schedule {} with {} operations; expected schedule {} with {}",
                  to_string(trace.schedule), trace.ops.size(), to_string(schedule.digest()),
                  schedule.op_count()));
}

}  // namespace slackline::sched
