#include "cli/measured_validation.h"

#include <algorithm>
#include <utility>

#include "analysis/slack/observed_slack.h"
#include "analysis/slack/timed_slack.h"
#include "base/statistics.h"
#include "hw/leader.h"

namespace slackline::cli {
namespace {

// Iterations of each run, of which the median counts.
constexpr std::uint32_t kIterations = 3;
// Undelayed runs whose floats are looked at.
constexpr std::uint32_t kObserved = 15;

std::vector<double> medians(const std::vector<std::vector<double>>& floats_s) {
  std::vector<double> result(floats_s.front().size());
  std::vector<double> values;
  for (std::size_t op = 0; op < result.size(); ++op) {
    values.clear();
    for (const std::vector<double>& of_run : floats_s) values.push_back(of_run[op]);
    result[op] = base::value_at(values, values.size() / 2);
  }
  return result;
}

// For how long the rank that waited longest for a processor did so, in an iteration on average.
double waited_s(const hw::RunResult& result) {
  double most_s = 0;
  for (const hw::ProcessorUse& use : result.processor) {
    most_s = std::max(most_s, use.waited_s.value_or(0));
  }
  return most_s / static_cast<double>(result.makespans_s.size());
}

}  // namespace

MeasuredValidation validate_here(const LoadedSchedule& loaded, const RunSetting& setting,
                                 const MeasuredValidationOptions& options, const JoinedRank& joined,
                                 Console& console) {
  const sched::Schedule& schedule = loaded.schedule;
  const SettledRun settled(setting, schedule, console);
  hw::RunOptions run_options;
  run_options.iterations = kIterations;
  run_options.prove = false;
  run_options.waiting = options.waiting;
  run_options.platform = setting.platform;
  run_options.order = settled.setting().order;
  hw::Leader leader(*joined.mesh, *joined.transport);
  MeasuredValidation found;
  std::vector<double> waits_s;  // by run
  const analysis::MeasuredRun run = [&](const machine::DelayPlan& plan) {
    run_options.delays = plan;
    hw::RunResult result = leader.run(schedule, run_options);
    waits_s.push_back(waited_s(result));
    found.clock_error_s = std::max(found.clock_error_s, result.clock_error_s);
    return std::move(result.trace);
  };

  console.phase("running");
  std::vector<std::vector<double>> floats_s;
  std::vector<double> makespans_s;
  for (std::uint32_t i = 0; i < kObserved; ++i) {
    const sched::Trace trace = run(setting.delays);
    makespans_s.push_back(trace.makespan_s());
    floats_s.push_back(
        analysis::observed_slack(schedule, trace, setting.platform.interleave_bytes).total_float_s);
  }
  found.predictions.push_back({"undelayed runs", medians(floats_s)});
  if (options.by_platform) {
    const sched::Trace trace = settled.run(console);
    found.predictions.push_back(
        {setting.platform.name, analysis::slack_of_run(settled.setting(), trace).total_float_s});
  }
  const std::vector<machine::OpDelay> trials =
      options.choose(found.predictions.front().float_s, base::value_at(makespans_s, kObserved / 2));
  const std::uint64_t pairs = trials.size() * std::uint64_t{options.repeats};
  found.trials = analysis::run_measured_trials(
      schedule, setting.delays, trials, options.repeats, run,
      [&](std::uint32_t done) { console.progress("running", done, pairs); });
  found.waited_s = base::value_at(waits_s, waits_s.size() * 9 / 10);
  found.on = "run:" + std::string(joined.transport->name());
  return found;
}

}  // namespace slackline::cli
