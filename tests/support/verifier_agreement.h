// Holds the verifier against its oracle.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "sched/verify.h"
#include "tests/support/brute_force_verifier.h"

namespace slackline::testing {

inline std::string text(const sched::Diagnostics& diagnostics) {
  std::string all;
  for (const sched::Diagnostic& d : diagnostics) {
    all += fmt::format("{}: {}\n", name(d.code), d.message);
  }
  return all;
}

inline std::string text(const std::set<sched::Code>& codes) {
  std::string all;
  for (const sched::Code code : codes) all += fmt::format("{} ", name(code));
  return all;
}

/// Expects the two to agree on whether there is an error, and on its codes; `seed` is the oracle's.
/// Answers whether there was one.
inline bool agree(const sched::Schedule& schedule, std::uint64_t seed, const std::string& what) {
  using sched::Code;
  BruteForceVerifier oracle(schedule);
  const std::set<Code> expected = oracle.errors(seed);
  const sched::Diagnostics found = verify(schedule, {.max_diagnostics = 100'000});
  const std::string both =
      fmt::format("{}\nverifier:\n{}oracle: {}", what, text(found), text(expected));
  EXPECT_EQ(has_errors(found), !expected.empty()) << both;
  std::set<Code> codes;
  bool warned = false;
  for (const sched::Diagnostic& d : found) {
    if (d.severity == sched::Severity::kError) {
      codes.insert(d.code);
    } else {
      EXPECT_EQ(d.code, Code::kDuplicate) << both;
      warned = true;
    }
  }
  EXPECT_TRUE(!warned || !expected.empty() || oracle.delivered_twice()) << both;
  EXPECT_TRUE(std::includes(expected.begin(), expected.end(), codes.begin(), codes.end())) << both;
  // Which code an unordered pair has depends on the order that was taken; all others must agree.
  for (const Code code : {Code::kSize, Code::kFifo, Code::kDeadlock, Code::kTruncate, Code::kFlag,
                          Code::kWindow, Code::kUninitialised, Code::kPost, Code::kStructure}) {
    EXPECT_EQ(codes.contains(code), expected.contains(code)) << both;
  }
  return !expected.empty();
}

}  // namespace slackline::testing
