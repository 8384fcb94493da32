#include "cli/order_options.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/units.h"

namespace slackline::cli {

void OrderOptions::declare(Arguments& arguments) {
  arguments.option("--policy", "in-order|ready|least-slack", policy_,
                   "which ready operation a lane posts next (default: in-order)");
  arguments.option(
      "--sends-in-flight", "N", sends_in_flight_,
      "large messages that a rank has posted and not done, chosen by the policy as the "
      "run goes; 0: no bound (default: 0)");
}

machine::IssuePolicy OrderOptions::policy() const {
  if (!policy_) return machine::IssuePolicy::kInOrder;
  const auto policy = machine::issue_policy_named(*policy_);
  if (policy) return *policy;
  throw InputError(
      fmt::format("--policy: '{}'; expected in-order, ready or least-slack", *policy_));
}

std::uint32_t OrderOptions::sends_in_flight() const {
  if (!sends_in_flight_) return 0;
  return static_cast<std::uint32_t>(
      sched::parse_count(*sends_in_flight_, "--sends-in-flight", 0, 1u << 30));
}

std::string_view OrderOptions::given() const {
  if (policy_) return "--policy";
  return sends_in_flight_ ? "--sends-in-flight" : "";
}

}  // namespace slackline::cli
