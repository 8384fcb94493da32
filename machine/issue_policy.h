// Which of its ready operations a CPU lane posts next.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace slackline::machine {

/// No policy waits for an operation that is not ready: a strict order is made with edges.
enum class IssuePolicy : std::uint8_t {
  kInOrder,     // the lowest operation id
  kReady,       // the one that has been ready longest, then the lowest id
  kLeastSlack,  // the one with the least total float in a run that was looked at before, then the
                // lowest id
};

/// A policy, and what it goes by.
struct IssueOrder {
  IssuePolicy policy = IssuePolicy::kInOrder;
  /// A rank posts no further large message while this many of its own are posted and not done; the
  /// policy chooses who is next when one is. 0: no bound. (A strict order is made with edges.)
  std::uint32_t sends_in_flight = 0;
  /// least-slack: the slack of every operation, in seconds. Whoever has it keeps it until the run
  /// is over.
  std::span<const double> slack_s;

  constexpr IssueOrder() = default;
  constexpr IssueOrder(IssuePolicy p,
                       std::span<const double> slack = {})  // NOLINT: a policy is one
      : policy(p), slack_s(slack) {}

  bool is_program_order() const { return policy == IssuePolicy::kInOrder && sends_in_flight == 0; }
};

std::string_view name(IssuePolicy policy);
std::optional<IssuePolicy> issue_policy_named(std::string_view text);

/// Throws InternalError if the policy goes by slack and not every operation has one.
void require_complete(const IssueOrder& order, std::size_t ops);

}  // namespace slackline::machine
