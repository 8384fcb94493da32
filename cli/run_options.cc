#include "cli/run_options.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "machine/delays.h"
#include "machine/paths.h"

namespace slackline::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Who waited longer for SimGrid is told who takes less.
constexpr std::chrono::seconds kLongWait{5};

void name_quicker_engine(Clock::duration waited, Console& console) {
  if (waited < kLongWait) return;
  console.note(fmt::format(
      "SimGrid took {:.0f} s; the engine flow shares links by the same rules, and takes less",
      std::chrono::duration<double>(waited).count()));
}

}  // namespace

sched::Trace RunSetting::run(const sched::Schedule& schedule, const machine::Wiring& wiring,
                             Console& console) const {
  std::vector<double> slack_s;
  const machine::IssueOrder order = order_of(schedule, wiring, console, slack_s);
  console.phase("simulating");
  const Clock::time_point begun = Clock::now();
  sched::Trace trace = engine->run(schedule, platform, wiring, delays, order);
  if (engine->name == "simgrid") name_quicker_engine(Clock::now() - begun, console);
  return trace;
}

std::function<sched::Trace(const machine::DelayPlan&)> RunSetting::runner(
    const sched::Schedule& schedule, const machine::Wiring& wiring, Console& console) const {
  std::vector<double> slack_s;
  const machine::IssueOrder order = order_of(schedule, wiring, console, slack_s);
  return [this, &schedule, &wiring, order,
          slack_s = std::move(slack_s)](const machine::DelayPlan& plan) {
    machine::IssueOrder ordered = order;
    ordered.slack_s = slack_s;
    return engine->run(schedule, platform, wiring, plan, ordered);
  };
}

machine::Samples RunSetting::run_samples(const sched::Schedule& schedule,
                                         const machine::Wiring& wiring,
                                         const machine::SampleRuns& runs, Console& console) const {
  std::vector<double> slack_s;
  const machine::IssueOrder order = order_of(schedule, wiring, console, slack_s);
  console.phase("simulating");
  const Clock::time_point begun = Clock::now();
  machine::Samples samples = engine->run_samples(schedule, platform, wiring, delays, order, runs);
  if (engine->name == "simgrid") name_quicker_engine(Clock::now() - begun, console);
  return samples;
}

machine::TraceSource RunSetting::source(const sched::Schedule& schedule,
                                        const machine::Wiring& wiring, Console& console) const {
  const auto slack_s = std::make_shared<std::vector<double>>();
  const machine::IssueOrder order = order_of(schedule, wiring, console, *slack_s);
  return [this, &schedule, &wiring, slack_s, order](const machine::PlanRuns& runs,
                                                    const machine::TraceReading& reading) {
    return engine->run_plans(schedule, platform, wiring, order, runs, reading);
  };
}

machine::IssueOrder RunSetting::order_of(const sched::Schedule& schedule,
                                         const machine::Wiring& wiring, Console& console,
                                         std::vector<double>& slack_s) const {
  machine::IssueOrder order(policy);
  order.sends_in_flight = sends_in_flight;
  if (policy != machine::IssuePolicy::kLeastSlack) return order;
  // What is wrong with them shows before the run without them.
  const machine::Delays delay_check(delays, schedule, platform);
  const machine::Paths path_check(schedule, wiring, delays);
  console.phase("looking for slack");
  const sched::Trace undelayed = engine->run(schedule, platform, wiring, {}, {});
  slack_s = analysis::timed_slack(schedule, platform, wiring, {}, undelayed).total_float_s;
  order.slack_s = slack_s;
  return order;
}

void RunOptions::declare(Arguments& arguments) {
  arguments.option(
      "-p,--platform", "PLATFORM", platform_,
      fmt::format("a preset's name, a TOML file, or TOPOLOGY:key=value,… (default: {})",
                  machine::kDefaultPlatform));
  arguments.option(names_.engine, names_.engine_values, engine_,
                   fmt::format("who answers (default: {}); flow shares links as simgrid does, and "
                               "takes less time",
                               default_engine_));
  order_.declare(arguments);
  delays_.declare(arguments);
}

std::string_view RunOptions::engine_option() const {
  return std::string_view(names_.engine).substr(names_.engine.rfind(',') + 1);
}

RunSetting RunOptions::resolve(Console& console) const {
  if (!engine_) return resolve_machine(console);
  const EngineEntry& engine = engine_named(*engine_, engine_option());
  RunSetting setting = resolve_rest();
  setting.engine = &engine;
  return setting;
}

RunSetting RunOptions::resolve_machine(Console& console) const {
  RunSetting setting = resolve_rest();
  for (const EngineEntry& entry : engines()) {
    if (entry.name == default_engine_) setting.engine = &entry;
  }
  if (setting.engine == nullptr) {
    setting.engine = &engine_named("flow");
    console.note("this program was built without SimGrid: the flow engine answers");
  }
  return setting;
}

RunSetting RunOptions::resolve_rest() const {
  RunSetting setting;
  setting.policy = order_.policy();
  setting.sends_in_flight = order_.sends_in_flight();
  setting.platform = machine::load_platform(platform_ ? *platform_ : machine::kDefaultPlatform);
  setting.delays = delays_.resolve();
  setting.seed = delays_.seed();
  return setting;
}

std::string_view RunOptions::given() const {
  if (platform_) return "--platform";
  if (engine_) return engine_option();
  const std::string_view order = order_.given();
  return order.empty() ? delays_.given() : order;
}

}  // namespace slackline::cli
