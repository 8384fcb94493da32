// The options that say which of its ready operations a lane posts next.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/arguments.h"
#include "machine/issue_policy.h"

namespace slackline::cli {

class OrderOptions {
 public:
  void declare(Arguments& arguments);
  machine::IssuePolicy policy() const { return policy_.value_or(machine::IssuePolicy::kInOrder); }
  std::uint32_t sends_in_flight() const { return sends_in_flight_.value_or(0); }
  /// The first of these options that was given, as in "--policy"; empty if none was.
  std::string_view given() const;

 private:
  std::optional<machine::IssuePolicy> policy_;
  std::optional<std::uint32_t> sends_in_flight_;
};

}  // namespace slackline::cli
