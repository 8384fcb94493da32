// A barrier of writes: ranks tell each other by a word that is never zero.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sched/program_writer.h"
#include "sched/workloads/tasks/task_memory.h"

namespace slackline::sched {

/// Writes a barrier that disseminates, in ⌈log2 ranks⌉ rounds of one put and one poll of each rank.
/// `through` has one operation of every rank, by which it comes; the result has those by which
/// they leave. `channel_of` says on which channel one rank writes to another.
std::vector<OpId> write_mark_barrier(
    ProgramWriter& out, TaskMemory& memory, std::uint32_t step, std::vector<OpId> through,
    const std::function<ChannelId(std::uint32_t src, std::uint32_t dst)>& channel_of);

}  // namespace slackline::sched
