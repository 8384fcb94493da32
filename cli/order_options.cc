#include "cli/order_options.h"

namespace slackline::cli {

void OrderOptions::declare(Arguments& arguments) {
  arguments.choice("--policy", "in-order|ready|least-slack", policy_,
                   "which ready operation a lane posts next (default: in-order)",
                   machine::issue_policy_named);
  arguments.number(
      "--sends-in-flight", "N", sends_in_flight_,
      "large messages that a rank has posted and not done, chosen by the policy as the "
      "run goes; 0: no bound (default: 0)",
      0, 1u << 30);
}

std::string_view OrderOptions::given() const {
  if (policy_) return "--policy";
  return sends_in_flight_ ? "--sends-in-flight" : "";
}

}  // namespace slackline::cli
