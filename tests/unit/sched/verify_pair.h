// What the verifier's unit tests share.
#pragma once

#include <string>
#include <vector>

#include "sched/verify.h"
#include "tests/support/draft.h"

namespace slackline::testing {

/// The findings, "code: message" each.
inline std::vector<std::string> check(const Draft& draft, const VerifyOptions& options = {}) {
  std::vector<std::string> lines;
  for (const Diagnostic& d : verify(draft.build(), options)) {
    const bool warning = d.severity == Severity::kWarning;
    lines.push_back(std::string(name(d.code)) + (warning ? " (warning): " : ": ") + d.message);
  }
  return lines;
}

// Rank 0 holds a value in buffer 0; rank 1 has room for it in buffer 1.
struct Pair : Draft {
  static constexpr std::uint64_t kBytes = 16;
  BufferId from;
  BufferId to;
  ChannelId there;
  ChannelId back;

  Pair() {
    ranks = 2;
    from = buffer(0, kBytes);
    to = buffer(1, kBytes);
    there = channel(0, 1);
    back = channel(1, 0);
    pre.push_back({{from, 0, kBytes}, ValueId(0), 0});
  }
  Slice at_from(std::uint64_t offset = 0, std::uint64_t bytes = 8) const {
    return {from, offset, bytes};
  }
  Slice at_to(std::uint64_t offset = 0, std::uint64_t bytes = 8) const {
    return {to, offset, bytes};
  }
};

}  // namespace slackline::testing
