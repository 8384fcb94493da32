#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "analysis/slack/critical_path.h"
#include "base/statistics.h"
#include "cli/human.h"
#include "cli/real_cost_reports.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kDearShown = 12;
constexpr std::size_t kGainsShown = 12;
constexpr std::size_t kPricedRanksShown = 8;

// Less than `rounding_s` is nothing.
std::string human_cost(double cost_s, double rounding_s) {
  if (!std::isfinite(cost_s)) return "never ends";
  return human_difference(std::abs(cost_s) <= rounding_s ? 0 : cost_s);
}

// A rank's operations.
struct RankPrices {
  std::uint32_t rank = 0;
  std::uint64_t ops = 0;
  std::uint64_t free = 0;
  double mean_s = 0;
  double least_s = 0;
  double most_s = 0;
};

std::vector<RankPrices> by_rank(const sched::Schedule& schedule, const DelayPrices& prices) {
  const double rounding_s = analysis::rounding_s(prices.makespan_s);
  std::vector<RankPrices> ranks;
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    RankPrices rank{r};
    for (sched::OpId id = schedule.first_op(sched::RankId(r));
         id < schedule.end_op(sched::RankId(r)); ++id.value) {
      const double cost_s = prices.cost_s[id.value];
      rank.least_s = rank.ops == 0 ? cost_s : std::min(rank.least_s, cost_s);
      rank.most_s = rank.ops == 0 ? cost_s : std::max(rank.most_s, cost_s);
      if (std::abs(cost_s) <= rounding_s) ++rank.free;
      rank.mean_s += cost_s;
      ++rank.ops;
    }
    if (rank.ops == 0) continue;
    rank.mean_s /= static_cast<double>(rank.ops);
    ranks.push_back(rank);
  }
  return ranks;
}

// Whole picoseconds decide, or rounding would.
double rank_key(double time_s) { return std::floor(time_s * 1e12 + 0.5); }

}  // namespace

void answer_prices(Answer& answer, const SlackRun& run, const DelayPrices& prices) {
  const std::vector<double>& cost_s = prices.cost_s;
  const double rounding_s = analysis::rounding_s(prices.makespan_s);
  const double by_s = sched::seconds(prices.by);
  const auto cost = [&](double time_s) { return human_cost(time_s, rounding_s); };
  const auto share = [&](std::string_view title, const auto& counts) {
    answer.row(
        title,
        share_of_ops(rows_where(cost_s.size(), [&](auto op) { return counts(cost_s[op]); }).size(),
                     cost_s.size()));
  };
  const std::vector<RankPrices> ranks = by_rank(run.setting.schedule, prices);
  double longer_s = 0;
  for (const double op_s : cost_s) longer_s = std::max(longer_s, op_s);
  add_delayed_run(answer, run, prices.makespan_s, longer_s);
  answer.set("delay_by_s", by_s);
  answer.set("op_cost_s", cost_s);
  std::vector<double> mean_s(run.setting.schedule.rank_count());
  for (const RankPrices& rank : ranks) mean_s[rank.rank] = rank.mean_s;
  answer.set("rank_cost_mean_s", mean_s);
  if (!answer.for_people()) return;

  answer.row("delay",
             fmt::format("each op alone by {}, in a run of its own", sched::human_seconds(by_s)));
  share("costs nothing", [&](double c_s) { return std::abs(c_s) <= rounding_s; });
  share("costs less than nothing", [&](double c_s) { return c_s < -rounding_s; });
  share("costs more than itself", [&](double c_s) { return c_s > by_s + rounding_s; });
  const Rows order =
      most_first(rows_of(cost_s.size()), [&](auto op) { return rank_key(cost_s[op]); });
  if (!order.empty()) {
    // The least cost that at least so many percent of operations do not exceed.
    const auto quantile = [&](std::size_t percent) {
      const std::size_t place = base::nearest_rank(order.size(), percent);
      return cost(cost_s[order[order.size() - 1 - place]]);
    };
    answer.row("costs", fmt::format("least {}, 10 % {}, median {}, 90 % {}, most {}", quantile(0),
                                    quantile(10), quantile(50), quantile(90), quantile(100)));
  }
  answer.digest_row();
  if (order.empty()) return;

  Columns columns = op_columns(run.setting.schedule, [](auto op) { return sched::OpId(op); });
  columns.push_back({nullptr, "costs", [&](auto op) { return cost(cost_s[op]); }});
  answer.table("ops by what their delay costs, most first", columns, order, kDearShown, "more op");
  Rows gains(order.rbegin(), order.rend());
  std::erase_if(gains, [&](auto op) { return !(cost_s[op] < -rounding_s); });
  if (!gains.empty()) {
    answer.table("ops whose delay makes the whole faster, best first", columns, gains, kGainsShown,
                 "more op");
  }
  answer.table("ranks by what a delay of their ops costs on average",
               {{nullptr, "rank", [&](auto r) { return ranks[r].rank; }},
                {nullptr, "ops", [&](auto r) { return ranks[r].ops; }},
                {nullptr, "cost nothing", [&](auto r) { return ranks[r].free; }},
                {nullptr, "mean", [&](auto r) { return cost(ranks[r].mean_s); }},
                {nullptr, "least", [&](auto r) { return cost(ranks[r].least_s); }},
                {nullptr, "most", [&](auto r) { return cost(ranks[r].most_s); }}},
               most_first(rows_of(ranks.size()),
                          [&](auto r) {
                            return std::pair(rank_key(ranks[r].mean_s), rank_key(ranks[r].most_s));
                          }),
               kPricedRanksShown, "more rank");
}

}  // namespace slackline::cli
