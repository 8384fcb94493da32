#include "machine/completions.h"

#include <fmt/format.h>

#include "base/error.h"
#include "machine/run/signals.h"

namespace slackline::machine {

bool completions_cost(const Platform& platform) { return !completion_figure(platform).empty(); }

std::string_view completion_figure(const Platform& platform) {
  if (platform.o_poll.count() > 0) return "o_poll";
  if (platform.o_match.count() > 0) return "o_match";
  if (platform.o_signal.count() > 0) return "o_signal";
  if (platform.poll_for && platform.interrupt_cost.count() > 0) return "poll_for";
  return "";
}

Completions::Completions(const sched::Schedule& schedule, const Platform& platform,
                         const IssueOrder& order)
    : schedule_(schedule),
      look_s_(sched::seconds(platform.o_poll)),
      match_s_(sched::seconds(platform.o_match)),
      signal_s_(sched::seconds(platform.o_signal)),
      poll_for_s_(sched::seconds(platform.poll_for.value_or(Time{0}))),
      interrupt_s_(platform.poll_for ? sched::seconds(platform.interrupt_cost) : 0),
      batch_(platform.poll_batch),
      any_(completions_cost(platform)) {
  if (!any_) return;
  for (std::size_t c = 0; c < schedule.channels().size(); ++c) {
    if (schedule.channels()[c].bundle == sched::Bundle::kNone) continue;
    throw Unsupported(
        fmt::format("channel {} gathers messages, of which some share a completion; expected none "
                    "on a platform with {}",
                    c, completion_figure(platform)));
  }
  makes_ =
      signalled_operations(schedule, sched::RegionTree(schedule), order, platform.interleave_bytes);
}

}  // namespace slackline::machine
