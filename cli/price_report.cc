#include "cli/price_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "analysis/slack/critical_path.h"
#include "cli/human.h"
#include "cli/platform_report.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kDearShown = 12;
constexpr std::size_t kGainsShown = 12;
constexpr std::size_t kPricedRanksShown = 8;

std::string share_of_ops(std::uint64_t count, std::size_t ops) {
  return fmt::format("at {} of {} ({})", count, human_count(ops, "op"),
                     human_share(static_cast<double>(count), static_cast<double>(ops)));
}

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

std::string op_table(const sched::Schedule& schedule, const DelayPrices& prices,
                     std::span<const std::uint32_t> ops) {
  Table table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add({"op", "kind", "rank", "step", "costs"});
  for (const std::uint32_t i : ops) {
    std::vector<std::string> row = op_cells(schedule, sched::OpId(i));
    row.push_back(human_cost(prices.cost_s[i], analysis::rounding_s(prices.makespan_s)));
    table.add(std::move(row));
  }
  return table.text("  ");
}

}  // namespace

void add_delayed_run_rows(Table& head, const SlackRun& run, double makespan_s) {
  add_run_rows(head, run);
  head.add(
      {"makespan", fmt::format("{} ({:.9g} s)", sched::human_seconds(makespan_s), makespan_s)});
}

void set_delayed_run(JsonDocument& json, const LoadedSchedule& loaded, const SlackRun& run,
                     double makespan_s) {
  json.set("schedule", loaded.name);
  json.set("engine", run.engine);
  json.set("answered_by", run.trace.engine);
  set_platform(json, run.setting.platform, run.trace.platform, loaded.schedule.rank_count());
  json.set("makespan_s", makespan_s);
}

std::vector<std::string> op_cells(const sched::Schedule& schedule, sched::OpId id) {
  const sched::Op& op = schedule.op(id);
  return {fmt::to_string(id.value), std::string(sched::name(op.kind)),
          fmt::to_string(op.rank.value), fmt::to_string(op.step)};
}

std::string more_ops(std::size_t left) {
  if (left == 0) return "";
  return fmt::format("  … and {}; --all shows them\n", human_count(left, "more op"));
}

std::string price_report(const LoadedSchedule& loaded, const SlackRun& run,
                         const DelayPrices& prices, bool all) {
  const std::size_t ops = prices.cost_s.size();
  const double rounding_s = analysis::rounding_s(prices.makespan_s);
  const double by_s = sched::seconds(prices.by);
  const auto share = [&](const std::function<bool(double)>& counts) {
    return share_of_ops(static_cast<std::uint64_t>(
                            std::count_if(prices.cost_s.begin(), prices.cost_s.end(), counts)),
                        ops);
  };
  Table head({Align::kLeft, Align::kLeft});
  add_delayed_run_rows(head, run, prices.makespan_s);
  head.add({"delay",
            fmt::format("each op alone by {}, in a run of its own", sched::human_seconds(by_s))});
  head.add({"costs nothing", share([&](double c_s) { return std::abs(c_s) <= rounding_s; })});
  head.add({"costs less than nothing", share([&](double c_s) { return c_s < -rounding_s; })});
  head.add({"costs more than itself", share([&](double c_s) { return c_s > by_s + rounding_s; })});
  std::vector<std::uint32_t> order(ops);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return rank_key(prices.cost_s[a]) > rank_key(prices.cost_s[b]);
  });
  if (ops != 0) {
    // The least cost that at least so many percent of operations do not exceed.
    const auto quantile = [&](std::size_t percent) {
      const std::size_t place = std::max<std::size_t>(1, (ops * percent + 99) / 100);
      return human_cost(prices.cost_s[order[ops - place]], rounding_s);
    };
    head.add({"costs", fmt::format("least {}, 10 % {}, median {}, 90 % {}, most {}", quantile(0),
                                   quantile(10), quantile(50), quantile(90), quantile(100))});
  }
  head.add({"digest", to_string(loaded.schedule.digest())});
  std::string text = loaded.name + '\n' + head.text("  ");
  if (ops == 0) return text;

  const std::size_t dear = all ? ops : std::min(ops, kDearShown);
  text += "\n  ops by what their delay costs, most first:\n" +
          op_table(loaded.schedule, prices, std::span(order).first(dear)) + more_ops(ops - dear);

  std::vector<std::uint32_t> gains(order.rbegin(), order.rend());
  std::erase_if(gains, [&](std::uint32_t i) { return !(prices.cost_s[i] < -rounding_s); });
  if (!gains.empty()) {
    const std::size_t shown = all ? gains.size() : std::min(gains.size(), kGainsShown);
    text += "\n  ops whose delay makes the whole faster, best first:\n" +
            op_table(loaded.schedule, prices, std::span(gains).first(shown)) +
            more_ops(gains.size() - shown);
  }

  std::vector<RankPrices> ranks = by_rank(loaded.schedule, prices);
  std::stable_sort(ranks.begin(), ranks.end(), [](const RankPrices& a, const RankPrices& b) {
    return std::pair(rank_key(a.mean_s), rank_key(a.most_s)) >
           std::pair(rank_key(b.mean_s), rank_key(b.most_s));
  });
  Table table(std::vector<Align>(6, Align::kRight));
  table.add({"rank", "ops", "cost nothing", "mean", "least", "most"});
  const std::size_t rows = all ? ranks.size() : std::min(ranks.size(), kPricedRanksShown);
  for (std::size_t i = 0; i < rows; ++i) {
    const RankPrices& rank = ranks[i];
    table.add({fmt::to_string(rank.rank), fmt::to_string(rank.ops), fmt::to_string(rank.free),
               human_cost(rank.mean_s, rounding_s), human_cost(rank.least_s, rounding_s),
               human_cost(rank.most_s, rounding_s)});
  }
  text += "\n  ranks by what a delay of their ops costs on average:\n" + table.text("  ");
  if (rows < ranks.size()) {
    text += fmt::format("  … and {}; --all shows them\n",
                        human_count(ranks.size() - rows, "more rank"));
  }
  return text;
}

std::string price_document(const LoadedSchedule& loaded, const SlackRun& run,
                           const DelayPrices& prices) {
  JsonDocument json(to_string(loaded.schedule.digest()), loaded.proved);
  set_delayed_run(json, loaded, run, prices.makespan_s);
  json.set("delay_by_s", sched::seconds(prices.by));
  json.set("op_cost_s", std::span<const double>(prices.cost_s));
  std::vector<double> mean_s(loaded.schedule.rank_count());
  for (const RankPrices& rank : by_rank(loaded.schedule, prices)) mean_s[rank.rank] = rank.mean_s;
  json.set("rank_cost_mean_s", std::span<const double>(mean_s));
  return json.text();
}

}  // namespace slackline::cli
