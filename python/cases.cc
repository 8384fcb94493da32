#include "python/cases.h"

#include <utility>

#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "engines/engines.h"
#include "engines/network.h"
#include "machine/timeline_nics.h"

namespace slackline::python {
namespace {

machine::IssuePolicy policy_named(const std::string& name) {
  if (const auto policy = machine::issue_policy_named(name)) return *policy;
  throw InputError("policy '" + name + "' is unknown; expected in-order, ready or least-slack");
}

}  // namespace

std::shared_ptr<const Case> make_case(HeldSchedule schedule, const machine::Platform& platform,
                                      const machine::DelayPlan& delays, const std::string& engine,
                                      const OrderWords& order, const machine::RunWatch* watch) {
  machine::IssueOrder issue(policy_named(order.policy));
  issue.sends_in_flight = order.sends_in_flight;
  const machine::Engine& named = engines::engine_named(engine, "engine");
  machine::Wiring wiring = engines::wiring_of(platform, *schedule);
  auto made = std::make_shared<Case>(
      Case{std::move(schedule), platform, delays, std::move(wiring), &named, issue, {}});
  if (issue.policy == machine::IssuePolicy::kLeastSlack) {
    const machine::Setting undelayed =
        made->setting().with(machine::kNoDelays).with(machine::IssueOrder()).watched(watch);
    made->slack_s = analysis::timed_slack(undelayed, named.run(undelayed)).total_float_s;
    made->order.slack_s = made->slack_s;
  }
  return made;
}

std::shared_ptr<const Case> case_of(HeldSchedule schedule, const sched::Trace& trace,
                                    const std::string& name) {
  if (trace.schedule != schedule->digest()) {
    throw InputError(name + ": of schedule " + to_string(trace.schedule) + "; expected one of " +
                     to_string(schedule->digest()));
  }
  machine::Platform platform = trace.platform.empty()
                                   ? machine::load_platform(machine::kDefaultPlatform)
                                   : machine::parse_platform_spec(trace.platform);
  if (trace.platform.empty()) platform.node = machine::node_of_trace(trace);
  machine::DelayPlan delays = machine::delay_plan_from_toml(trace.delays, name + ": delays");
  machine::Wiring wiring = engines::wiring_of(platform, *schedule);
  return std::make_shared<const Case>(Case{std::move(schedule),
                                           std::move(platform),
                                           std::move(delays),
                                           std::move(wiring),
                                           engines::find_engine(trace.engine),
                                           {},
                                           {}});
}

}  // namespace slackline::python
