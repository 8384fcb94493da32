// The proof about bytes: the pre facts are pushed through the operations and the post facts must
// hold, whatever order the arcs allow.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory_limit.h"
#include "sched/diagnostic.h"
#include "sched/schedule.h"

namespace slackline::sched {

struct VerifyOptions {
  /// Stop after this many errors (0 is taken as 1). Warnings fill what room errors leave, and never
  /// stop the proof.
  std::size_t max_diagnostics = 100;
  /// The longest search for one path, in operations. An order that is not proven within it is
  /// reported as unproven, never taken for granted.
  std::size_t search_steps = std::size_t{1} << 18;
  /// What the proof may take: it grows with the slices, and, where messages under way hold many
  /// pieces of values, with these.
  MemoryLimit memory{};
  /// Memory is looked at piece by piece, between two places where some slice begins or ends. Where
  /// a slice has so many pieces or more on average, neighbours of which the same is known are kept
  /// as one. What is found is the same.
  std::uint64_t join_from = 4;
};

/// Proves or refutes the schedule: FIFO matching, sizes, deadlock, windows, order of conflicting
/// accesses, and the contract (codes in sched/diagnostic.h). Ordered by (code, op).
///
/// `structure`, `size`, `fifo`, `deadlock`, `truncate` and what `flag` says of places come first
/// and, where there are any, alone: what the others say of bytes rests on them. `uninitialised`,
/// `post`, `duplicate` and what `flag` says of contents are left out where there is a race, since
/// what memory holds then depends on who wins it.
///
/// Values are symbols. A message, copy, put or get carries (value, offset) pieces unchanged. A
/// reduce of values of the contract, or of sums of them, from one offset on makes a sum, which is
/// known by its terms: a post fact holds of it if each of its terms is in it once and no other is.
/// Any other reduce, and an atomic, makes a new value of which all that is known is which operation
/// made it: a post fact cannot name these, so it never holds of them. What stands in a word of
/// atomics that are not ordered among themselves is one such value; that is no race.
///
/// Neither throws nor prints, but for Unsupported, naming the operation, when the schedule is not
/// static or the address of a one-sided access is another operation's result (and at 2^31 slices),
/// and EnvironmentError where memory is too little.
Diagnostics verify(const Schedule& schedule, const VerifyOptions& options = {});

}  // namespace slackline::sched
