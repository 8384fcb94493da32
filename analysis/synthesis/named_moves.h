// Named patterns as moves, for synthesis to begin with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/synthesis/moved_collective.h"
#include "sched/pattern/spec.h"

namespace slackline::analysis {

struct NamedMoves {
  std::uint32_t shares = 0;  // of CollectiveTask
  CollectiveMoves moves;
};

/// What a pattern does: of a multicast its name, of another collective what it is made of. The task
/// is that of the options, and so are its blocks; its shares are not read. Where the halves of
/// CollectiveMoves cannot say it, `summing` does: that two ranks tell each other their sums, that
/// ranks are folded into others, that something is delivered twice. Nothing if it keeps units
/// elsewhere, copies within a rank, makes more than `most_moves`, or cuts its message otherwise
/// than into equal shares for all ranks, for a power of two of them, or for one. Throws what the
/// pattern does.
std::optional<NamedMoves> named_moves(const CollectiveTask& task,
                                      const sched::MulticastOptions& options,
                                      const std::string& name, std::uint64_t most_moves);

}  // namespace slackline::analysis
