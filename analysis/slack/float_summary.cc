#include "analysis/slack/float_summary.h"

#include <algorithm>
#include <utility>

#include "base/statistics.h"

namespace slackline::analysis {

FloatSummary summarise(std::vector<double> float_s) {
  FloatSummary summary;
  summary.ops = float_s.size();
  if (float_s.empty()) return summary;
  summary.without = static_cast<std::uint64_t>(std::count(float_s.begin(), float_s.end(), 0.0));
  const auto [least, most] = std::minmax_element(float_s.begin(), float_s.end());
  summary.min_s = *least;
  summary.max_s = *most;
  summary.median_s = base::value_at(float_s, (float_s.size() - 1) / 2);
  return summary;
}

std::vector<FloatSummary> summarise_by_rank(const sched::Schedule& schedule,
                                            std::span<const double> float_s) {
  std::vector<FloatSummary> ranks;
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    const auto of_rank = float_s.subspan(
        schedule.first_op(sched::RankId(r)).value,
        schedule.end_op(sched::RankId(r)).value - schedule.first_op(sched::RankId(r)).value);
    ranks.push_back(summarise({of_rank.begin(), of_rank.end()}));
  }
  return ranks;
}

std::vector<FloatSummary> summarise_by_link(const machine::Setting& setting,
                                            const machine::Paths& paths,
                                            std::span<const double> message_float_s) {
  const sched::Schedule& schedule = setting.schedule;
  std::vector<std::vector<double>> of_link(setting.wiring.links().size());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind) || schedule.payload_bytes(op) == 0) continue;
    for (const machine::LinkId link :
         paths.links(paths.of(op.channel, sched::has_reply(op.kind)))) {
      of_link[link.value].push_back(message_float_s[i]);
    }
  }
  std::vector<FloatSummary> links;
  links.reserve(of_link.size());
  for (std::vector<double>& floats : of_link) links.push_back(summarise(std::move(floats)));
  return links;
}

}  // namespace slackline::analysis
