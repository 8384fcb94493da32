#include "cli/trace_nics.h"

#include <string>
#include <string_view>

#include "machine/platform.h"
#include "machine/timeline_nics.h"

namespace slackline::cli {

sched::TimelineNics nics_of(const sched::Schedule& schedule, const sched::Trace& trace) {
  // Of any other nothing is read: its files may have gone.
  const auto has = [&](std::string_view figure) {
    return trace.platform.find(figure) != std::string::npos;
  };
  if (!has(",rails=") && !has(",scale_up_rate=")) return {};
  return machine::timeline_nics(schedule, machine::parse_platform_spec(trace.platform).node);
}

}  // namespace slackline::cli
