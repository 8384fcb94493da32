// Named patterns as moves, for synthesis to begin with.
#pragma once

#include <optional>
#include <string>

#include "analysis/synthesis/moved_collective.h"
#include "sched/pattern/spec.h"

namespace slackline::analysis {

/// What a pattern does: of a multicast its name, of another collective what it is made of. The task
/// is that of the options, and so are its blocks. Nothing if it is not made of moves: it delivers
/// twice, keeps units elsewhere, cuts what it sums otherwise, or does not sum each share at its own
/// rank. Throws what the pattern does.
std::optional<CollectiveMoves> named_moves(const CollectiveTask& task,
                                           const sched::MulticastOptions& options,
                                           const std::string& name);

}  // namespace slackline::analysis
