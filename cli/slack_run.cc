#include "cli/slack_run.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/units.h"
#include "cli/engine.h"
#include "cli/frozen_run.h"
#include "cli/network.h"
#include "cli/platform_report.h"
#include "sched/file.h"
#include "sched/trace_file.h"

namespace slackline::cli {

analysis::TimedSlack SlackRun::slack(const sched::Schedule& schedule,
                                     std::optional<analysis::WireTimes> wire) const {
  return wire ? analysis::timed_slack(schedule, platform, wiring, delays, trace, *wire)
              : analysis::slack_of_run(schedule, platform, wiring, delays, trace);
}

SlackRun run_now(const RunSetting& setting, const sched::Schedule& schedule, Console& console) {
  machine::Wiring wiring = wiring_of(setting.platform, schedule);
  sched::Trace trace = setting.run(schedule, wiring, console);
  return {setting.platform,      setting.delays,   std::string(setting.engine->name),
          setting.platform.name, std::move(trace), std::move(wiring)};
}

TracedRun::TracedRun(const std::string& file, const sched::MemoryLimit& memory) : path(file) {
  trace = sched::load_trace(path, memory);
  platform = machine::parse_platform_spec(trace.platform);
  delays = machine::delay_plan_from_toml(trace.delays, path + ": delays");
}

SlackRun TracedRun::of(const sched::Schedule& schedule) const {
  return {platform, delays, trace.engine, "as in " + path, trace, wiring_of(platform, schedule)};
}

std::function<sched::Trace(const machine::DelayPlan&)> TracedRun::runner(
    const sched::Schedule& schedule, const machine::Wiring& wiring) const {
  const bool analytic = trace.engine == "longest-path" || trace.engine == "event";
  const std::string_view name = analytic ? "analytic" : std::string_view(trace.engine);
  for (const EngineEntry& entry : engines()) {
    if (entry.name != name) continue;
    const auto run = [this, &schedule, &wiring, &entry](const machine::DelayPlan& plan) {
      return entry.run(schedule, platform, wiring, plan, {});
    };
    const sched::Trace again = run(delays);
    const double near_s = 1e-9 * trace.makespan_s();
    for (std::size_t i = 0; i < trace.ops.size(); ++i) {
      if (std::abs(again.ops[i].done_s - trace.ops[i].done_s) > near_s) return {};
    }
    return run;
  }
  return {};
}

std::optional<std::string> SlackRun::why_no_promise(const sched::Schedule& schedule) const {
  return cli::why_no_promise(schedule, platform, wiring, delays);
}

void add_run_rows(Table& table, const SlackRun& run) {
  add_platform_rows(table, run.platform_shown, run.platform, run.wiring.rank_count());
  table.add({"engine", run.engine == run.trace.engine
                           ? run.engine
                           : fmt::format("{} ({})", run.engine, run.trace.engine)});
}

std::string_view name(analysis::WireTimes wire) {
  return wire == analysis::WireTimes::kModel ? "model" : "run";
}

std::string human_difference(double time_s) {
  if (time_s == 0) return "0 s";
  return fmt::format("{}{}", time_s > 0 ? "+" : "−", sched::human_seconds(std::abs(time_s)));
}

}  // namespace slackline::cli
