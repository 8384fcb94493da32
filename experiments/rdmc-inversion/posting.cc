#include "experiments/rdmc-inversion/posting.h"

#include "analysis/engines/event_engine.h"
#include "analysis/slack/timed_slack.h"
#include "base/enum_names.h"

namespace slackline::experiments {
namespace {

using machine::IssueOrder;
using machine::IssuePolicy;

std::size_t index(Rule rule) { return static_cast<std::size_t>(rule); }

// Of a run in program order: every operation's total float, and how late it may be issued.
struct Slack {
  std::vector<double> total_float_s;
  std::vector<double> latest_s;
};
Slack slack_of(const sched::Schedule& schedule, const machine::Platform& platform) {
  const sched::Trace trace = analysis::run_events({schedule, platform});
  Slack slack;
  slack.total_float_s = analysis::timed_slack({schedule, platform, {}}, trace).total_float_s;
  slack.latest_s = slack.total_float_s;
  for (std::size_t i = 0; i < trace.ops.size(); ++i) slack.latest_s[i] += trace.ops[i].issued_s;
  return slack;
}

// The event engine gives each message of fair NICs its full rate, whatever else is under way.
machine::Platform uncontended(machine::Platform platform) {
  platform.nic = machine::NicDiscipline::kFair;
  platform.gap = sched::Time{0};
  return platform;
}

}  // namespace

std::string_view name(Rule rule) {
  constexpr base::EnumNames<Rule, kRuleCount> kNames = {"in-order", "ready", "least-slack",
                                                        "latest", "latest, uncontended"};
  return kNames[rule];
}

Posting::Posting(const sched::Schedule& schedule, const machine::Platform& platform) {
  Slack as_run = slack_of(schedule, platform);
  slack_s_[index(Rule::kLeastSlack)] = std::move(as_run.total_float_s);
  slack_s_[index(Rule::kLatest)] = std::move(as_run.latest_s);
  slack_s_[index(Rule::kLatestUncontended)] = slack_of(schedule, uncontended(platform)).latest_s;
}

IssueOrder Posting::order(Rule rule, std::uint32_t sends_in_flight) const {
  IssueOrder order;
  if (rule == Rule::kReady) order.policy = IssuePolicy::kReady;
  if (!slack_s_[index(rule)].empty()) {
    order = IssueOrder(IssuePolicy::kLeastSlack, slack_s_[index(rule)]);
  }
  order.sends_in_flight = sends_in_flight;
  return order;
}

}  // namespace slackline::experiments
