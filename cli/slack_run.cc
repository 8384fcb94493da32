#include "cli/slack_run.h"

#include <fmt/format.h>

#include <cmath>

#include "base/enum_names.h"
#include "base/error.h"
#include "cli/platform_report.h"
#include "cli/simulation_report.h"
#include "engines/engines.h"
#include "engines/network.h"
#include "machine/without_effect.h"
#include "sched/file.h"

namespace slackline::cli {

analysis::TimedSlack SlackRun::slack(std::optional<analysis::WireTimes> wire) const {
  return wire ? analysis::timed_slack(setting, trace, *wire)
              : analysis::slack_of_run(setting, trace);
}

SlackRun run_now(const SettledRun& settled, Console& console) {
  return {settled.setting(), std::string(settled.engine().name), settled.setting().platform.name,
          settled.run(console)};
}

TracedRun::TracedRun(const std::string& file, const sched::MemoryLimit& memory) : path(file) {
  trace = sched::load_trace(path, memory);
  if (trace.platform.empty()) {
    throw InputError(fmt::format(
        "{}: of a real run, whose machine nobody knows; expected a run that was simulated", path));
  }
  platform = machine::parse_platform_spec(trace.platform);
  delays = machine::delay_plan_from_toml(trace.delays, path + ": delays");
}

SlackRun TracedRun::of(const sched::Schedule& schedule) const {
  return {{schedule, platform, engines::wiring_of(platform, schedule), delays},
          trace.engine,
          "as in " + path,
          trace};
}

const machine::Engine* TracedRun::engine_of(const machine::Setting& setting) const {
  const bool analytic = trace.engine == "longest-path" || trace.engine == "event";
  const machine::Engine* engine =
      engines::find_engine(analytic ? "analytic" : std::string_view(trace.engine));
  if (engine == nullptr) return nullptr;
  const sched::Trace again = engine->run(setting);
  const double near_s = 1e-9 * trace.makespan_s();
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    if (std::abs(again.ops[i].done_s - trace.ops[i].done_s) > near_s) return nullptr;
  }
  return engine;
}

void add_run(Answer& answer, const SlackRun& run, std::optional<bool> contended, double longer_s) {
  answer.set("schedule", answer.subject().name);
  answer.set("engine", run.engine);
  answer.set("answered_by", run.trace.engine);
  if (contended) answer.set("contended", *contended);
  add_platform(answer, run.platform_shown, run.setting.platform, run.setting.wiring.rank_count(),
               run.trace.platform);
  answer.row("engine", run.engine == run.trace.engine
                           ? run.engine
                           : fmt::format("{} ({})", run.engine, run.trace.engine));
  add_delays(answer, run.setting.delays,
             machine::without_effect(run.setting, run.trace.makespan_s() + longer_s));
}

void add_delayed_run(Answer& answer, const SlackRun& run, double makespan_s, double longer_s) {
  add_run(answer, run, {}, longer_s);
  answer.makespan(makespan_s);
}

Columns op_columns(const sched::Schedule& schedule,
                   const std::function<sched::OpId(std::uint32_t row)>& op) {
  const auto of = [&schedule, op](std::uint32_t row) -> const sched::Op& {
    return schedule.op(op(row));
  };
  return {{"op", "op", [op](auto row) { return op(row).value; }},
          {"kind", "kind", [of](auto row) { return sched::name(of(row).kind); }, Align::kLeft},
          {"rank", "rank", [of](auto row) { return of(row).rank.value; }},
          {"step", "step", [of](auto row) { return of(row).step; }}};
}

namespace {
constexpr base::EnumNames<analysis::WireTimes, 2> kWireTimes = {"model", "run"};
}  // namespace

std::string_view name(analysis::WireTimes wire) { return kWireTimes[wire]; }
std::optional<analysis::WireTimes> wire_times_named(std::string_view name) {
  return kWireTimes.find(name);
}

}  // namespace slackline::cli
