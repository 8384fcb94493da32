#include "machine/issue_policy.h"

namespace slackline::machine {

std::string_view name(IssuePolicy policy) {
  return policy == IssuePolicy::kInOrder ? "in-order" : "ready";
}

std::optional<IssuePolicy> issue_policy_named(std::string_view text) {
  for (const IssuePolicy policy : {IssuePolicy::kInOrder, IssuePolicy::kReady}) {
    if (name(policy) == text) return policy;
  }
  return std::nullopt;
}

}  // namespace slackline::machine
