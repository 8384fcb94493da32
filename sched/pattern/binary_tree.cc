#include "sched/pattern/binary_tree.h"

#include "sched/pattern/edge_stream.h"
#include "sched/pattern/shared_options.h"

namespace slackline::sched {

Plan binary_tree(const MulticastOptions& options) {
  Plan plan = empty_plan(options);
  if (plan.ranks > 1) {
    std::vector<EdgeStream> streams(plan.ranks - 1);  // stream i is the edge into rank i + 1
    for (std::uint32_t rank = 1; rank < plan.ranks; ++rank) {
      const std::uint32_t parent = (rank - 1) / 2;
      const std::uint32_t turn = (rank - 1) % 2;
      const std::uint32_t held_from = parent == 0 ? 0 : streams[parent - 1].first_step + 1;
      streams[rank - 1] = {parent, rank, held_from + turn, 0};
    }
    add_streams(plan, std::move(streams), plan.ranks == 2 ? 1 : 2, 1);
  }
  return with_root(std::move(plan), options.root);
}

constinit const PatternEntry kBinaryTreePattern = {
    "binary-tree", "blocks pipelined down a complete binary tree", kMulticastOptions, binary_tree};

}  // namespace slackline::sched
