// Changes of moves where a delay costs: to known optima, no run slower, and the same whatever the
// threads.
#include "analysis/synthesis/descend.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analysis/engines/flow_engine.h"
#include "analysis/synthesis/greedy.h"
#include "analysis/synthesis/ways.h"
#include "sched/verify.h"

namespace slackline::analysis {
namespace {

using sched::RankId;

struct Net {
  machine::Platform platform;
  machine::Wiring wiring;
};
Net net_of(const std::string& spec, std::uint32_t ranks) {
  machine::Platform platform = machine::load_platform(spec);
  machine::Wiring wiring(platform, ranks);
  return {std::move(platform), std::move(wiring)};
}

Improvement timed(const CollectiveTask& task, CollectiveMoves moves, const Net& net) {
  const sched::Schedule schedule = schedule_of(task, moves, "");
  const double makespan_s = run_flows({schedule, net.platform, net.wiring}).makespan_s();
  return {std::move(moves), makespan_s, 0};
}

// Unit after unit, rank after rank, all from the root.
CollectiveMoves from_root(std::uint32_t ranks, std::uint32_t units) {
  CollectiveMoves moves;
  for (std::uint32_t u = 0; u < units; ++u) {
    for (std::uint32_t r = 1; r < ranks; ++r)
      moves.spreading.push_back({RankId(0), RankId(r), {u}});
  }
  return moves;
}

TEST(Descend, FindsTheTreeOfFour) {
  // Three messages of 80 ns from the root; the last comes from the rank that has had the first.
  const Net net = net_of("star:rate=100Gbps,latency=0,o_post=0,o_complete=0,gap=0", 4);
  const CollectiveTask task{Collective::kMulticast, 4, 1000, 1000};
  const Improvement start = timed(task, from_root(4, 1), net);
  EXPECT_NEAR(start.makespan_s, 240e-9, 1e-12);
  const Descent found = descend(task, start, net.platform, net.wiring, {});
  EXPECT_NEAR(found.improvement.makespan_s, 160e-9, 1e-12);
  EXPECT_TRUE(found.at_end);
  EXPECT_EQ(found.kept, 1u);
  EXPECT_EQ(found.improvement.kept, 1u);
}

TEST(Descend, IsNeverSlowerAndProvedOnSharedLinks) {
  for (const char* spec : {"star:latency=1us", "two-level:racks=2,hosts=3,oversubscription=3",
                           "two-level:racks=3,hosts=2,oversubscription=4", "torus:dims=6"}) {
    const Net net = net_of(spec, 6);
    for (const Collective collective : {Collective::kMulticast, Collective::kAllgather,
                                        Collective::kReduceScatter, Collective::kAllreduce}) {
      SCOPED_TRACE(std::string(spec) + ", " + std::string(name_of(collective)));
      const CollectiveTask task{collective, 6, 60'000, 20'000};
      const Ways ways(net.platform, net.wiring);
      const Spreading spreading = spreading_of(task);
      CollectiveMoves moves;
      if (has_reducing(collective)) {
        moves.reducing = greedy_moves(spreading, ways.backwards(), GreedyTaste{}, 0);
      }
      if (has_spreading(collective)) {
        moves.spreading = collective == Collective::kMulticast
                              ? from_root(6, spreading.units()).spreading
                              : greedy_moves(spreading, ways, GreedyTaste{}, 0);
      }
      const Improvement start = timed(task, moves, net);
      DescentOptions options;
      options.most_runs = 150;
      const Descent found = descend(task, start, net.platform, net.wiring, options);
      EXPECT_LE(found.improvement.makespan_s, start.makespan_s);
      EXPECT_EQ(found.kept != 0, found.improvement.makespan_s < start.makespan_s);
      if (collective == Collective::kMulticast) {
        EXPECT_GT(found.kept, 0u);
      }
      EXPECT_LE(found.runs, 150u);
      EXPECT_TRUE(found.at_end || found.runs == 150);
      EXPECT_EQ(timed(task, found.improvement.moves, net).makespan_s, found.improvement.makespan_s);
      const sched::Schedule schedule = schedule_of(task, found.improvement.moves, "");
      for (const sched::Diagnostic& d : sched::verify(schedule)) ADD_FAILURE() << d.message;
      options.jobs = 3;
      EXPECT_EQ(descend(task, start, net.platform, net.wiring, options).improvement.moves.spreading,
                found.improvement.moves.spreading);
    }
  }
}

TEST(Descend, ALimitOfRunsIsSaid) {
  const Net net = net_of("star:latency=1us", 5);
  const CollectiveTask task{Collective::kMulticast, 5, 3000, 1000};
  const Improvement start = timed(task, from_root(5, 3), net);
  DescentOptions options;
  options.most_runs = 2;
  const Descent found = descend(task, start, net.platform, net.wiring, options);
  EXPECT_EQ(found.runs, 2u);
  EXPECT_FALSE(found.at_end);
}

}  // namespace
}  // namespace slackline::analysis
