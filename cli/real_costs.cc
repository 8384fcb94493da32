#include "cli/real_costs.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/engines/delayed_runs.h"
#include "analysis/slack/delay_slopes.h"
#include "analysis/slack/exact_float.h"
#include "analysis/slack/helpful_delays.h"
#include "analysis/slack/link_upgrades.h"
#include "analysis/slack/validate.h"
#include "base/error.h"
#include "base/number.h"
#include "base/split.h"
#include "cli/exact_float_report.h"
#include "cli/price_report.h"
#include "cli/slack_run.h"
#include "cli/slope_report.h"
#include "cli/suggestion_report.h"
#include "cli/upgrade_report.h"
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

}  // namespace

void RealCosts::declare(Arguments& arguments) {
  arguments.option("--price", "TIME", price_text_,
                   "what a delay of TIME really costs at each operation alone, in runs of the flow "
                   "engine");
  arguments.flag("--slopes", slopes_,
                 "what a small delay of each operation alone really costs, per second of it");
  arguments.option("--exact-float", "OPS", float_text_,
                   "the largest delay of each of these operations that really costs nothing: "
                   "numbers as 3,17, or all");
  arguments.flag("--suggest", suggest_, "look for delays that make the whole faster");
  arguments.flag("--what-if", what_if_,
                 "what a higher rate and a lower latency of each link alone would really save");
}

std::vector<std::string_view> RealCosts::all_given() const {
  std::vector<std::string_view> given;
  if (price_text_) given.emplace_back("--price");
  if (slopes_) given.emplace_back("--slopes");
  if (float_text_) given.emplace_back("--exact-float");
  if (suggest_) given.emplace_back("--suggest");
  if (what_if_) given.emplace_back("--what-if");
  return given;
}

void RealCosts::check() {
  const std::vector<std::string_view> given = all_given();
  if (given.size() > 1) {
    throw InputError(fmt::format("{} beside {}; expected one of them", given[1], given[0]));
  }
  if (float_text_ && *float_text_ != "all") {
    for (const std::string_view item : base::split(*float_text_)) {
      const auto op = base::whole_number<std::uint32_t>(item);
      if (!op) {
        throw InputError(fmt::format(
            "--exact-float: '{}'; expected numbers of operations, as 3,17, or all", item));
      }
      float_ops_.emplace_back(*op);
    }
  }
  if (!price_text_) return;
  price_ = machine::parse_finite_time(*price_text_, "--price");
  if (price_.count() > 0) return;
  throw InputError(fmt::format("--price: '{}'; expected a time above 0, as 10us", *price_text_));
}

std::string_view RealCosts::given() const {
  const std::vector<std::string_view> given = all_given();
  return given.empty() ? std::string_view() : given.front();
}

std::string RealCosts::exact_floats(const LoadedSchedule& loaded, const SlackRun& run,
                                    const analysis::DelayedRuns& runs, std::uint32_t jobs, bool all,
                                    bool json, Console& console) const {
  FoundFloats found{float_ops_, {}, {}};
  if (found.ops.empty()) {
    for (std::uint32_t i = 0; i < loaded.schedule.op_count(); ++i) found.ops.emplace_back(i);
  }
  found.exact = analysis::exact_floats(runs, found.ops, jobs, [&](std::uint32_t done) {
    console.progress("looking for floats", done, found.ops.size());
  });
  const analysis::TimedSlack frozen = run.slack(std::nullopt);
  for (const sched::OpId op : found.ops) found.frozen_s.push_back(frozen.total_float_s[op.value]);
  return json ? exact_float_document(loaded, run, found)
              : exact_float_report(loaded, run, found, all);
}

std::string RealCosts::answer(const LoadedSchedule& loaded, const RunSetting& setting,
                              std::uint32_t jobs, bool all, bool json, Console& console) const {
  const sched::Schedule& schedule = loaded.schedule;
  const SettledRun settled(setting, schedule, console);
  const SlackRun run = run_now(settled, console);
  if (suggest_) {
    analysis::DelaySearch search{run.setting, jobs, {}};
    search.progress = [&](std::string_view what, std::uint64_t done, std::uint64_t of) {
      console.progress(what, done, of);
    };
    const analysis::HelpfulDelays found = analysis::helpful_delays(search);
    const Suggestion suggestion{found, confirm(run.setting, found, console)};
    return json ? suggestion_document(loaded, run, suggestion)
                : suggestion_report(loaded, run, suggestion, all);
  }
  if (what_if_) {
    console.phase("upgrading links");
    const analysis::LinkUpgrades found =
        analysis::link_upgrades(run.setting, settled.engine(), jobs);
    return json ? upgrade_document(loaded, run, found) : upgrade_report(loaded, run, found, all);
  }
  const analysis::DelayedRuns runs(run.setting);
  if (float_text_) return exact_floats(loaded, run, runs, jobs, all, json, console);
  const auto progress = [&](std::uint32_t done) {
    console.progress("delaying each operation", done, schedule.op_count());
  };
  if (slopes_) {
    std::vector<sched::OpId> ops;
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) ops.emplace_back(i);
    const std::vector<analysis::DelaySlope> slopes =
        analysis::delay_slopes(runs, ops, jobs, progress);
    return json ? slope_document(loaded, run, slopes) : slope_report(loaded, run, slopes, all);
  }
  DelayPrices prices{price_, runs.undelayed().makespan_s(), {}};
  prices.cost_s = runs.makespans_s(analysis::trials_of_all(run.setting, price_), jobs, progress);
  for (double& cost_s : prices.cost_s) cost_s -= prices.makespan_s;
  return json ? price_document(loaded, run, prices) : price_report(loaded, run, prices, all);
}

}  // namespace slackline::cli
