// What pipelined trees have in common: every edge carries one block in every other step.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/plan.h"

namespace slackline::sched {

/// Blocks first_block, first_block + b, first_block + 2b, … cross the edge at steps first_step,
/// first_step + s, first_step + 2s, …
struct EdgeStream {
  std::uint32_t src = 0;
  std::uint32_t dst = 0;
  std::uint32_t first_step = 0;
  std::uint32_t first_block = 0;
};

/// Adds the transfers of all streams, in order, and sets the plan's steps. `block_stride` is b,
/// `step_stride` is s, 1 or 2. Where s is 2, the streams out of one rank start at steps of
/// different parity.
void add_streams(Plan& plan, std::vector<EdgeStream> streams, std::uint32_t step_stride,
                 std::uint32_t block_stride);

}  // namespace slackline::sched
