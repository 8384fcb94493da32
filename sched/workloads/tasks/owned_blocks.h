// Blocks of global memory that ranks cache exclusively: a software DSM with write-back.
#pragma once

#include <cstdint>

#include "sched/pattern/spec.h"
#include "sched/schedule.h"

namespace slackline::sched {

struct OwnedBlockOptions {
  std::uint64_t acquires = 0;  // of each rank
  std::uint64_t words = 0;     // of all ranks together; a block at least
  std::uint64_t block = 0;     // bytes, a multiple of 8
  std::uint32_t uses = 1;      // updates between acquire and release, ≥ 1
};

/// Every rank acquires blocks drawn at random, updates `uses` words of each in place and writes it
/// back. Who owns a block its home says, the core that has its first byte: a request asks for it,
/// as a delegate; the grant answers when the owner before has released it. Then gets bring the
/// block, `uses` times a task works (`work`) and adds to a word of it, puts write the words back
/// that were updated, and when they are acknowledged a message without answer says so to the home.
/// Requests are granted in the order in which they come in the planning run, and edges between a
/// block's handlers at its home hold every run to that order: nothing looks at who owns a block as
/// it runs.
///
/// The contract: every word of a block that was acquired is the sum of its value and of what each
/// update added, once. So an owner who has not seen the owner before, or whom the next one has not
/// seen, breaks it. The task options are the spec's. Throws InputError as they do.
Schedule owned_blocks(const Spec& spec, const OwnedBlockOptions& options);

/// No fewer than one acquire makes.
std::uint64_t owned_block_ops(const Spec& spec, const OwnedBlockOptions& options);

}  // namespace slackline::sched
