#include "cli/simulation_options.h"

#include <fmt/format.h>

#include "analysis/slack/timed_slack.h"
#include "cli/simulated.h"
#include "engines/engines.h"
#include "engines/network.h"
#include "machine/delays.h"
#include "machine/paths.h"

namespace slackline::cli {

SettledRun::SettledRun(const RunSetting& chosen, const sched::Schedule& schedule, Console& console)
    : chosen_(chosen) {
  machine::IssueOrder order(chosen.policy);
  order.sends_in_flight = chosen.sends_in_flight;
  setting_.emplace(schedule, chosen.platform, engines::wiring_of(chosen.platform, schedule),
                   chosen.delays, order);
  if (chosen.policy != machine::IssuePolicy::kLeastSlack) return;
  // What is wrong with them shows before the run without them.
  const machine::Delays delay_check(*setting_);
  const machine::Paths path_check(*setting_);
  console.phase("looking for slack");
  const machine::Setting undelayed = setting_->with(machine::kNoDelays).with(machine::IssueOrder());
  slack_s_ = analysis::timed_slack(undelayed, engine().run(undelayed)).total_float_s;
  order.slack_s = slack_s_;
  setting_.emplace(setting_->with(order));
}

sched::Trace SettledRun::run(Console& console, std::span<machine::LaneUse> uses) const {
  return simulated(engine(), console, [&] { return engine().run(setting().adding_up(uses)); });
}

machine::Samples SettledRun::samples(const machine::SampleRuns& runs, Console& console) const {
  return simulated(engine(), console, [&] { return engine().samples(setting(), runs); });
}

const machine::Engine* engine_or_flow(std::string_view name, Console& console) {
  if (const machine::Engine* engine = engines::find_engine(name)) return engine;
  console.note("this program was built without SimGrid: the flow engine answers");
  return engines::find_engine("flow");
}

void SimulationOptions::declare(Arguments& arguments) {
  arguments.option(
      "-p,--platform", "PLATFORM", platform_,
      fmt::format("a preset's name, a TOML file, or TOPOLOGY:key=value,… (default: {})",
                  machine::kDefaultPlatform));
  arguments.option(
      names_.engine, engines::engine_names("|", "|") + names_.more_engines, engine_,
      fmt::format("who answers (default: {}{}); flow shares links as simgrid does, and "
                  "takes less time",
                  default_engine_,
                  default_engine_ == "analytic"
                      ? ", and flow where messages turn out to share links"
                      : ""));
  order_.declare(arguments);
  delays_.declare(arguments);
}

std::string_view SimulationOptions::engine_option() const {
  return std::string_view(names_.engine).substr(names_.engine.rfind(',') + 1);
}

RunSetting SimulationOptions::resolve(Console& console) const {
  if (!engine_) return resolve_machine(console);
  const machine::Engine& engine = engines::engine_named(*engine_, engine_option());
  RunSetting setting = resolve_rest();
  setting.engine = &engine;
  return setting;
}

RunSetting SimulationOptions::resolve_machine(Console& console) const {
  RunSetting setting = resolve_rest();
  setting.engine = engine_or_flow(default_engine_, console);
  return setting;
}

const machine::Engine* SimulationOptions::engine_that_shares(const machine::Setting& of,
                                                             bool contended) const {
  if (engine_ || !contended) return nullptr;
  const machine::Engine& flow = engines::engine_named("flow");
  return flow.why_refused(of) ? nullptr : &flow;
}

RunSetting SimulationOptions::resolve_rest() const {
  RunSetting setting;
  setting.policy = order_.policy();
  setting.sends_in_flight = order_.sends_in_flight();
  setting.platform = machine::load_platform(platform_ ? *platform_ : machine::kDefaultPlatform);
  setting.delays = delays_.resolve();
  setting.seed = delays_.seed();
  return setting;
}

std::string_view SimulationOptions::given() const {
  if (platform_) return "--platform";
  if (engine_) return engine_option();
  const std::string_view order = order_.given();
  return order.empty() ? delays_.given() : order;
}

}  // namespace slackline::cli
