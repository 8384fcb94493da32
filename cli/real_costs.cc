#include "cli/real_costs.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/engines/delayed_runs.h"
#include "analysis/slack/exact_float.h"
#include "analysis/slack/validate.h"
#include "base/error.h"
#include "base/number.h"
#include "base/split.h"
#include "cli/exact_float_report.h"
#include "cli/real_cost_reports.h"
#include "cli/report_file.h"
#include "cli/slack_run.h"
#include "engines/engines.h"
#include "machine/delay_values.h"

namespace slackline::cli {
namespace {

// Another engine's run with the suggested delays, and without; nothing in a build without SimGrid.
std::optional<Confirmation> confirm(const machine::Setting& setting,
                                    const analysis::HelpfulDelays& found, Console& console) {
  const machine::Engine* engine = engines::find_engine("simgrid");
  if (found.together.empty() || engine == nullptr) return std::nullopt;
  console.phase("confirming");
  machine::DelayPlan plan = setting.delays;
  const auto makespan_s = [&] { return engine->run(setting.with(plan)).makespan_s(); };
  Confirmation confirmation{std::string(engine->name), makespan_s(), 0};
  for (const analysis::HelpfulDelay& helpful : found.together) plan.ops.push_back(helpful.delay);
  confirmation.with_s = makespan_s();
  return confirmation;
}

sched::Time read_price(const std::string& text, const std::string& option) {
  const sched::Time price = machine::parse_finite_time(text, option);
  if (price.count() > 0) return price;
  throw InputError(fmt::format("{}: '{}'; expected a time above 0, as 10us", option, text));
}

std::vector<sched::OpId> read_ops(const std::string& text, const std::string& option) {
  std::vector<sched::OpId> ops;
  if (text == "all") return ops;
  for (const std::string_view item : base::split(text)) {
    const auto op = base::whole_number<std::uint32_t>(item);
    if (!op) {
      throw InputError(
          fmt::format("{}: '{}'; expected numbers of operations, as 3,17, or all", option, item));
    }
    ops.emplace_back(*op);
  }
  return ops;
}

// As a page has it (report/report.h). What rounding may have moved from 1 is 1, as in the table.
double shown_slope(const analysis::DelaySlope& slope) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (!slope.settled()) return std::numeric_limits<double>::quiet_NaN();
  if (slope.at_once_s != 0) return slope.at_once_s > 0 ? kInfinite : -kInfinite;
  return std::abs(slope.slope - 1) <= slope.within ? 1 : slope.slope;
}

std::vector<sched::OpId> ops_of(const sched::Schedule& schedule) {
  std::vector<sched::OpId> ops;
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) ops.emplace_back(i);
  return ops;
}

}  // namespace

void RealCosts::declare(Arguments& arguments) {
  arguments.option("--price", "TIME", price_,
                   "what a delay of TIME really costs at each operation alone, in runs of the flow "
                   "engine",
                   read_price);
  arguments.flag("--slopes", slopes_,
                 "what a small delay of each operation alone really costs, per second of it");
  arguments.option("--exact-float", "OPS", float_ops_,
                   "the largest delay of each of these operations that really costs nothing: "
                   "numbers as 3,17, or all",
                   read_ops);
  arguments.flag("--suggest", suggest_, "look for delays that make the whole faster");
  arguments.flag("--what-if", what_if_,
                 "what a higher rate and a lower latency of each link alone would really save, and "
                 "what slower work of each rank alone would cost");
}

void RealCosts::exclude(Arguments& arguments, const std::vector<std::string>& others) {
  const std::vector<std::string> own = {"--price", "--slopes", "--exact-float", "--suggest",
                                        "--what-if"};
  for (auto option = own.begin(); option != own.end(); ++option) {
    arguments.excludes({*option}, {option + 1, own.end()});
  }
  arguments.excludes(own, others);
  arguments.excludes({"--price", "--exact-float", "--suggest", "--what-if"}, {"--report"});
}

std::string_view RealCosts::given() const {
  if (price_) return "--price";
  if (slopes_) return "--slopes";
  if (float_ops_) return "--exact-float";
  if (suggest_) return "--suggest";
  return what_if_ ? "--what-if" : "";
}

FoundFloats RealCosts::exact_floats(const SlackRun& run, const analysis::DelayedRuns& runs,
                                    std::uint32_t jobs, Console& console) const {
  FoundFloats found{*float_ops_, {}, {}};
  if (found.ops.empty()) found.ops = ops_of(run.setting.schedule);
  found.exact = analysis::exact_floats(runs, found.ops, jobs, [&](std::uint32_t done) {
    console.progress("looking for floats", done, found.ops.size());
  });
  const analysis::TimedSlack frozen = run.slack(std::nullopt);
  const std::vector<double> frozen_s = analysis::trial_floats_s(run.setting, frozen);
  for (const sched::OpId op : found.ops) found.frozen_s.push_back(frozen_s[op.value]);
  return found;
}

void RealCosts::find(Answer& answer, const LoadedSchedule& loaded, const RunSetting& setting,
                     std::uint32_t jobs, const std::optional<std::string>& report_file,
                     Console& console) const {
  const sched::Schedule& schedule = loaded.schedule;
  const SettledRun settled(setting, schedule, console);
  const SlackRun run = run_now(settled, console);
  if (suggest_) {
    analysis::DelaySearch search{run.setting, jobs, {}};
    search.progress = [&](std::string_view what, std::uint64_t done, std::uint64_t of) {
      console.progress(what, done, of);
    };
    const analysis::HelpfulDelays found = analysis::helpful_delays(search);
    return answer_suggestion(answer, run, found, confirm(run.setting, found, console));
  }
  if (what_if_) {
    console.phase("upgrading links");
    const analysis::LinkUpgrades upgrades =
        analysis::link_upgrades(run.setting, settled.engine(), jobs);
    console.phase("slowing ranks");
    return answer_upgrades(answer, run, upgrades,
                           analysis::rank_overheads(run.setting, settled.engine(), jobs));
  }
  const analysis::DelayedRuns runs(run.setting);
  if (float_ops_) {
    return answer_exact_floats(answer, run, exact_floats(run, runs, jobs, console));
  }
  const auto progress = [&](std::uint32_t done) {
    console.progress("delaying each operation", done, schedule.op_count());
  };
  if (slopes_) {
    const std::vector<analysis::DelaySlope> slopes =
        analysis::delay_slopes(runs, ops_of(schedule), jobs, progress);
    report::Report page{loaded.name, schedule, {}, {}, {}, {}};
    page.runs.push_back(reported_run("simulated", run.trace, run.setting));
    for (const auto& slope : slopes) page.runs.back().slopes.push_back(shown_slope(slope));
    write_report_file(report_file, page, console);
    return answer_slopes(answer, run, slopes);
  }
  DelayPrices prices{*price_, runs.undelayed().makespan_s(), {}};
  prices.cost_s = runs.makespans_s(analysis::trials_of_all(run.setting, *price_), jobs, progress);
  for (double& cost_s : prices.cost_s) cost_s -= prices.makespan_s;
  answer_prices(answer, run, prices);
}

}  // namespace slackline::cli
