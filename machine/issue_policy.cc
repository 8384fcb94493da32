#include "machine/issue_policy.h"

#include "base/enum_names.h"
#include "base/error.h"

namespace slackline::machine {
namespace {

constexpr base::EnumNames<IssuePolicy, 3> kPolicies = {"in-order", "ready", "least-slack"};

}  // namespace

std::string_view name(IssuePolicy policy) { return kPolicies[policy]; }

std::optional<IssuePolicy> issue_policy_named(std::string_view text) {
  return kPolicies.find(text);
}

void require_complete(const IssueOrder& order, std::size_t ops) {
  if (order.policy == IssuePolicy::kLeastSlack && order.slack_s.size() != ops) {
    throw InternalError("least-slack needs the slack of every operation");
  }
}

}  // namespace slackline::machine
