#include "sched/pattern/edge_stream.h"

#include <algorithm>
#include <array>

namespace slackline::sched {

void add_streams(Plan& plan, std::vector<EdgeStream> streams, std::uint32_t step_stride,
                 std::uint32_t block_stride) {
  std::sort(streams.begin(), streams.end(),
            [](const EdgeStream& a, const EdgeStream& b) { return a.src < b.src; });
  std::array<std::vector<EdgeStream>, 2> of_turn;
  for (const EdgeStream& stream : streams) {
    if (stream.first_block >= plan.blocks) continue;
    of_turn[stream.first_step % step_stride].push_back(stream);
    const std::uint32_t later = (plan.blocks - 1 - stream.first_block) / block_stride;
    plan.steps = std::max(plan.steps, stream.first_step + later * step_stride + 1);
  }
  plan.transfers.reserve(std::size_t{plan.ranks - 1} * plan.blocks);
  for (std::uint32_t step = 0; step < plan.steps; ++step) {
    for (const EdgeStream& stream : of_turn[step % step_stride]) {
      if (stream.first_step > step) continue;
      const std::uint32_t block =
          stream.first_block + (step - stream.first_step) / step_stride * block_stride;
      if (block >= plan.blocks) continue;
      plan.transfers.push_back({step, RankId(stream.src), RankId(stream.dst), block});
    }
  }
}

}  // namespace slackline::sched
