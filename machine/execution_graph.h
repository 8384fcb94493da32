// Who waits for whom in a run.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/region_tree.h"
#include "sched/schedule.h"

namespace slackline::machine {

/// Over the nodes of a sched::RegionTree: operations, and regions as if each were one operation. An
/// arc that leaves a region or comes into one is the region's: a region begins when everything that
/// any of its operations waits for outside is there, and what waits for one of its operations waits
/// for its end.
struct ExecutionGraph {
  ExecutionGraph(const sched::Schedule& schedule, const sched::RegionTree& regions);

  struct Arc {
    std::uint32_t succ : 31;
    std::uint32_t on_done : 1;
  };
  std::vector<std::uint32_t> waiting_for;    // of each node, how many arcs come into it
  std::vector<std::uint32_t> out_begin;      // of each node, its arcs in `out`
  std::vector<Arc> out;                      // edges, and channels' order across regions
  std::vector<sched::OpId> next_on_channel;  // its issue waits for the operation's, in one region
};

}  // namespace slackline::machine
