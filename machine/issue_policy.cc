#include "machine/issue_policy.h"

#include "base/error.h"

namespace slackline::machine {

std::string_view name(IssuePolicy policy) {
  switch (policy) {
    case IssuePolicy::kInOrder:
      return "in-order";
    case IssuePolicy::kReady:
      return "ready";
    case IssuePolicy::kLeastSlack:
      return "least-slack";
  }
  throw InternalError("an issue policy without a name");
}

std::optional<IssuePolicy> issue_policy_named(std::string_view text) {
  for (const IssuePolicy policy :
       {IssuePolicy::kInOrder, IssuePolicy::kReady, IssuePolicy::kLeastSlack}) {
    if (name(policy) == text) return policy;
  }
  return std::nullopt;
}

void require_complete(const IssueOrder& order, std::size_t ops) {
  if (order.policy == IssuePolicy::kLeastSlack && order.slack_s.size() != ops) {
    throw InternalError("least-slack needs the slack of every operation");
  }
}

}  // namespace slackline::machine
