#include "cli/run_options.h"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <utility>

#include "analysis/timed_slack.h"
#include "cli/inline_delays.h"
#include "machine/delays.h"
#include "machine/paths.h"
#include "sched/error.h"
#include "sched/units.h"

namespace slackline::cli {

sched::Trace RunSetting::run(const sched::Schedule& schedule, const machine::Wiring& wiring,
                             Console& console) const {
  std::vector<double> slack_s;
  const machine::IssueOrder order = order_of(schedule, wiring, console, slack_s);
  console.phase("simulating");
  return engine->run(schedule, platform, wiring, delays, order);
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
  return engine->run_samples(schedule, platform, wiring, delays, order, runs);
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
                   fmt::format("who answers (default: {})", default_engine_));
  arguments.option("--policy", "in-order|ready|least-slack", policy_,
                   "which ready operation a lane posts next (default: in-order)");
  arguments.option(
      "--sends-in-flight", "N", sends_in_flight_,
      "large messages that a rank has posted and not done, chosen by the policy as the "
      "run goes; 0: no bound (default: 0)");
  arguments.option("--delays", "FILE", delay_file_, "a delay plan (TOML)");
  arguments.option("--seed", "N", seed_, "of the random draws (default: the plan's, or 0)");
  if (names_.delay) {
    arguments.repeatable("--delay", "op=N,by=TIME", delays_,
                         "delay one operation, or rank=R,step=N; of=lane holds its whole lane");
  }
  arguments.repeatable("--slow-pair", "src=R,dst=R,rate=RATE", slow_pairs_,
                       "a lower rate for messages between two ranks");
  arguments.repeatable("--straggler", "rank=R,slowdown=X", stragglers_,
                       "a rank whose posts, copies and calculations take longer; by=TIME adds");
  arguments.repeatable(
      "--noise", "KIND,key=value", noise_,
      "random delays: constant,by=T or uniform,low=T,high=T or exponential,mean=T "
      "or lognormal,median=T,sigma=X or trace,file=FILE; also chance=, rank=, of=");
  arguments.repeatable("--link-rate", "link=NAME,rate=RATE,at=TIME", link_rates_,
                       "another rate for a link of the network, from a time on");
  arguments.repeatable("--fail", "link=NAME|rank=R,at=TIME", failures_,
                       "a link, or a rank's host, that is gone from a time on");
}

std::string_view RunOptions::engine_option() const {
  return std::string_view(names_.engine).substr(names_.engine.rfind(',') + 1);
}

RunSetting RunOptions::resolve(Console& console) const {
  RunSetting setting;
  if (engine_) {
    setting.engine = &engine_named(*engine_, engine_option());
  } else {
    for (const EngineEntry& entry : engines()) {
      if (entry.name == default_engine_) setting.engine = &entry;
    }
    if (setting.engine == nullptr) {
      setting.engine = &engine_named("analytic");
      console.note("this program was built without SimGrid: the analytic engine answers");
    }
  }
  if (policy_) {
    const auto policy = machine::issue_policy_named(*policy_);
    if (!policy) {
      throw InputError(
          fmt::format("--policy: '{}'; expected in-order, ready or least-slack", *policy_));
    }
    setting.policy = *policy;
  }
  if (sends_in_flight_) {
    setting.sends_in_flight = static_cast<std::uint32_t>(
        sched::parse_count(*sends_in_flight_, "--sends-in-flight", 0, 1u << 30));
  }
  setting.platform = machine::load_platform(platform_ ? *platform_ : machine::kDefaultPlatform);
  if (delay_file_) setting.delays = machine::load_delay_plan(*delay_file_);
  for (const std::string& text : delays_) add_delay(setting.delays, text);
  for (const std::string& text : slow_pairs_) add_slow_pair(setting.delays, text);
  for (const std::string& text : stragglers_) add_straggler(setting.delays, text);
  for (const std::string& text : noise_) add_noise(setting.delays, text);
  for (const std::string& text : link_rates_) add_link_rate(setting.delays, text);
  for (const std::string& text : failures_) add_failure(setting.delays, text);
  if (seed_) {
    setting.seed =
        sched::parse_count(*seed_, "--seed", 0, std::numeric_limits<std::uint64_t>::max());
    setting.delays.seed = *setting.seed;
  }
  return setting;
}

std::string_view RunOptions::given() const {
  if (platform_) return "--platform";
  if (engine_) return engine_option();
  if (policy_) return "--policy";
  if (sends_in_flight_) return "--sends-in-flight";
  if (delay_file_) return "--delays";
  if (!delays_.empty()) return "--delay";
  if (!slow_pairs_.empty()) return "--slow-pair";
  if (!stragglers_.empty()) return "--straggler";
  if (!noise_.empty()) return "--noise";
  if (!link_rates_.empty()) return "--link-rate";
  if (!failures_.empty()) return "--fail";
  if (seed_) return "--seed";
  return "";
}

}  // namespace slackline::cli
