// The rules by which a rank chooses what to post next, with what they go by.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "machine/issue_policy.h"
#include "machine/platform.h"
#include "sched/schedule.h"

namespace slackline::experiments {

/// By what the ready operation that is posted next is chosen: the least of it.
enum class Rule : std::uint8_t {
  kInOrder,            // its place in program order
  kReady,              // the time since when it is ready
  kLeastSlack,         // total float in an undelayed run in program order (`--policy least-slack`)
  kLatest,             // how late it may be issued in that run: the slack left at any moment
  kLatestUncontended,  // how late it may be issued if no message waits for a port
};
inline constexpr std::array kRules = {Rule::kInOrder, Rule::kReady, Rule::kLeastSlack,
                                      Rule::kLatest, Rule::kLatestUncontended};
inline constexpr std::size_t kRuleCount = kRules.size();

std::string_view name(Rule rule);

/// The rules of one schedule on one machine, which it knows without delays only.
class Posting {
 public:
  Posting(const sched::Schedule& schedule, const machine::Platform& platform);

  /// Valid while this lives. 0 sends in flight: no bound.
  machine::IssueOrder order(Rule rule, std::uint32_t sends_in_flight) const;

 private:
  std::array<std::vector<double>, kRuleCount> slack_s_;  // by rule; empty where it takes none
};

}  // namespace slackline::experiments
