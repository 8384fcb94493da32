// Which of its ready operations a CPU lane posts next.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace slackline::machine {

/// No policy waits for an operation that is not ready: a strict order is made with edges.
enum class IssuePolicy : std::uint8_t {
  kInOrder,  // the lowest operation id
  kReady,    // the one that has been ready longest, then the lowest id
};

std::string_view name(IssuePolicy policy);
std::optional<IssuePolicy> issue_policy_named(std::string_view text);

}  // namespace slackline::machine
