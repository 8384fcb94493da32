// The list of all patterns and workloads.
#include <array>

#include "sched/pattern/binary_tree.h"
#include "sched/pattern/binomial_pipeline.h"
#include "sched/pattern/binomial_tree.h"
#include "sched/pattern/chain.h"
#include "sched/pattern/circulant.h"
#include "sched/pattern/collective_series.h"
#include "sched/pattern/double_tree.h"
#include "sched/pattern/hybrid.h"
#include "sched/pattern/pattern.h"
#include "sched/pattern/scatter_allgather.h"
#include "sched/pattern/sequential.h"
#include "sched/pattern/sized_pieces.h"
#include "sched/pattern/switch_multicast.h"
#include "sched/pattern/switch_sums.h"
#include "sched/workloads/calls/call.h"
#include "sched/workloads/calls/component_access.h"
#include "sched/workloads/calls/ring_buffer.h"
#include "sched/workloads/calls/table_multicast.h"
#include "sched/workloads/structures/hash_table.h"
#include "sched/workloads/structures/queue.h"
#include "sched/workloads/tasks/breadth_first_levels.h"
#include "sched/workloads/tasks/breadth_first_search.h"
#include "sched/workloads/tasks/hex_search.h"
#include "sched/workloads/tasks/random_access.h"
#include "sched/workloads/tasks/tree_search.h"

namespace slackline::sched {

std::span<const PatternEntry> patterns() {
  // A new pattern is one line here.
  static const std::array kAll = {
      kSequentialPattern,
      kChainPattern,
      kBinomialTreePattern,
      kBinomialPipelinePattern,
      kCirculantPattern,
      kHybridPattern,
      kScatterAllgatherPattern,
      kBinaryTreePattern,
      kDoubleTreePattern,
      kRingBufferPattern,
      kTableMulticastPattern,
      kReducePattern,
      kAllreducePattern,
      kAllgatherPattern,
      kReduceScatterPattern,
      kScatterPattern,
      kGatherPattern,
      kAlltoallPattern,
      kAlltoallvPattern,
      kScattervPattern,
      kGathervPattern,
      kBarrierPattern,
      kSwitchMulticastPattern,
      kSwitchAllreducePattern,
      kSwitchReducePattern,
      kCallPattern,
      kCallBufferPattern,
      kCallBufferWritePattern,
      kCallBufferReadPattern,
      kCallReturnPattern,
      kBroadcastPattern,
      kBroadcastBufferPattern,
      kBroadcastBufferWritePattern,
      kBroadcastBufferReadPattern,
      kRandomAccessPattern,
      kTreeSearchPattern,
      kBreadthFirstSearchPattern,
      kBreadthFirstLevelsPattern,
      kHexSearchPattern,
      kOneSidedPattern,
      kHashTablePattern,
      kQueuePattern,
  };
  return kAll;
}

}  // namespace slackline::sched
