#include "cli/criticality_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "cli/frozen_run.h"
#include "cli/human.h"
#include "cli/platform_report.h"
#include "cli/samples_report.h"
#include "cli/slack_run.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kOpsShown = 12;
constexpr std::size_t kRanksShown = 8;

}  // namespace

void answer_criticality(Answer& answer, const LoadedSchedule& loaded, const RunSetting& setting,
                        const analysis::Criticality& found,
                        const std::optional<std::string>& no_promise) {
  const std::size_t samples = found.makespan_s.size();
  const auto share = [&](std::uint32_t count) {
    return static_cast<double>(count) / static_cast<double>(samples);
  };
  // Those that were critical at all, most often first.
  const auto by_count = [](const std::vector<std::uint32_t>& counts) {
    return most_first(rows_where(counts.size(), [&](auto i) { return counts[i] != 0; }),
                      [&](auto i) { return counts[i]; });
  };
  const Spread spread = spread_of(found.makespan_s);
  const Rows ops = by_count(found.of_op);
  answer.set("schedule", loaded.name);
  answer.set("engine", setting.engine->name);
  add_platform(answer, setting.platform.name, setting.platform, loaded.schedule.rank_count());
  answer.row("engine", std::string(setting.engine->name));
  add_no_promise(answer, "critical paths are", no_promise);
  answer.set("seed", setting.delays.seed);
  answer.set("samples", samples);
  answer.row("samples", fmt::format("{}, seeds {}…{}", samples, setting.delays.seed,
                                    setting.delays.seed + (samples - 1)));
  answer.set_each("op_criticality", found.of_op, share);
  answer.set_each("rank_criticality", found.of_rank, share);
  answer.set("makespan_mean_s", spread.mean_s);
  answer.set("makespan_samples_s", found.makespan_s);
  answer.row("makespan",
             fmt::format("mean {}, least {}, most {}", sched::human_seconds(spread.mean_s),
                         sched::human_seconds(spread.min_s), sched::human_seconds(spread.max_s)));
  answer.row("critical", fmt::format("{} of {} in some sample, {} in every one", ops.size(),
                                     human_count(found.of_op.size(), "op"),
                                     std::ranges::count(found.of_op, samples)));
  answer.digest_row();
  if (ops.empty()) return;
  Columns columns = op_columns(loaded.schedule, [](auto op) { return sched::OpId(op); });
  columns.push_back(
      {nullptr, "critical", [&](auto op) { return as_share(share(found.of_op[op])); }});
  answer.table("ops by the share of samples in which they are on the critical path", columns, ops,
               kOpsShown, "more op");
  answer.table(
      "ranks by the share of samples in which any of their ops is",
      {{nullptr, "rank", [](auto rank) { return rank; }},
       {nullptr, "critical", [&](auto rank) { return as_share(share(found.of_rank[rank])); }}},
      by_count(found.of_rank), kRanksShown, "more rank");
}

}  // namespace slackline::cli
