// Multicast patterns by name. A pattern is one function from its options to a Plan, in a file pair
// of its own, registered by one line in pattern.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sched/plan.h"

namespace slackline::sched {

/// What every multicast pattern is told.
struct MulticastOptions {
  std::uint32_t ranks = 1;        // ≥ 1
  std::uint64_t bytes = 0;        // of the message, ≥ 0
  std::uint64_t block_bytes = 1;  // ≥ 1
  RankId root{0};
  /// hybrid: the rack of every rank, racks numbered from 0 without gaps. Empty elsewhere.
  std::vector<std::uint32_t> rack_of_rank;

  /// max(1, ⌈bytes / block_bytes⌉). Throws InputError above 2^31 blocks.
  std::uint32_t blocks() const;
};

/// Steps are as published or as derived in the pattern's own header.
using MulticastPattern = Plan (*)(const MulticastOptions&);

struct PatternEntry {
  std::string_view name;
  std::string_view summary;  // one line, for `list patterns`
  MulticastPattern make;
};

/// Every pattern, in the order `list patterns` shows them.
std::span<const PatternEntry> patterns();

/// Nothing if there is no such pattern.
const PatternEntry* find_pattern(std::string_view name);

/// A Plan with everything but transfers and steps filled in from the options.
Plan empty_plan(const MulticastOptions& options);

/// Patterns are written for root 0. Renames the ranks of such a plan by rank 0 ↔ options.root, so
/// that block flow is the same with two names exchanged, and sorts the transfers.
Plan with_root(Plan plan, RankId root);

}  // namespace slackline::sched
