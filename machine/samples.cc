#include "machine/samples.h"

#include <algorithm>

namespace slackline::machine {

std::vector<double> rank_finish_s(const sched::Schedule& schedule,
                                  std::span<const sched::OpTimes> times) {
  std::vector<double> finish_s(schedule.rank_count(), 0);
  for (std::uint32_t i = 0; i < times.size(); ++i) {
    double& end_s = finish_s[schedule.ops()[i].rank.value];
    end_s = std::max(end_s, times[i].done_s);
  }
  return finish_s;
}

}  // namespace slackline::machine
