// Schedules of small operations over verbs: gathered messages, calls, and irregular patterns. Every
// rank proves its bytes, and the NIC's atomics leave what a simulation does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "hw/session.h"
#include "hw/verbs/transport.h"
#include "sched/workloads/run_check.h"
#include "tests/hw/gathered.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/support/compiled.h"

namespace slackline {
namespace {

using testing::MeshRanks;

using testing::compiled;

// What is wrong with a run of it, at rank 0; nothing if all is well.
std::string fault_of(const sched::Schedule& schedule, const hw::RunResult& result) {
  if (result.breach) return *result.breach;
  sched::Diagnostics found = sched::check_ran_once(schedule, result.trace);
  if (found.empty()) found = sched::check_order(schedule, result.trace, result.clock_error_s, 1);
  if (found.empty()) found = sched::check_fetch_adds(schedule, result.trace);
  if (!found.empty()) return found.front().message;
  const sched::Trace simulated = analysis::run_events({schedule, machine::Platform{}});
  return result.trace.memory == simulated.memory ? "" : "other bytes than in simulation";
}

// One session of as many ranks carries out all of them.
void expect_faultless(std::uint32_t ranks, const std::vector<sched::Schedule>& schedules) {
  MeshRanks processes;
  processes.start_all(ranks, [&](const hw::MeshOptions& options, const MeshRanks::Say& say) {
    hw::Mesh mesh(options);
    const auto transport = hw::make_verbs_transport({});
    hw::Session session(mesh, *transport);
    for (const sched::Schedule& schedule : schedules) {
      hw::RunOptions run;
      run.warm_up = 0;
      const hw::RunResult result = session.run(schedule, run);
      if (mesh.rank() == 0) say(fault_of(schedule, result));
    }
  });
  for (const sched::Schedule& schedule : schedules) {
    ASSERT_EQ(processes.next(0), "") << schedule.title();
  }
  for (std::uint32_t r = 0; r < ranks; ++r) EXPECT_EQ(processes.next(r), "(end)") << r;
}

// Told, written, full, flushed and old: see hw/executor/bundles.h.
TEST(Bundles, MessagesOfEveryKindComeInOrder) {
  std::vector<sched::Schedule> schedules;
  for (const sched::Bundle bundle : {sched::Bundle::kTraditional, sched::Bundle::kOverflow}) {
    for (const char* kinds : {"ffffffpppppf", "ssssssssss", "isfpisfpisfpsss"}) {
      for (const std::uint64_t apart : {0, 40}) {
        testing::Gathered gathered(bundle, kinds, apart);
        gathered.draft.channels[0].bundle_delay = sched::Time{2'000'000'000};
        schedules.push_back(gathered.draft.build());
      }
    }
  }
  testing::Gathered flushed(sched::Bundle::kTraditional, "sss", 0, true);
  flushed.draft.channels[0].bundle_bytes = 1'000'000;
  schedules.push_back(flushed.draft.build());
  expect_faultless(2, schedules);
}

TEST(Bundles, CallsAreAggregated) {
  std::vector<sched::Schedule> schedules;
  for (const char* pattern : {"call-return", "broadcast-buffer-write"}) {
    for (const char* how :
         {"trad,flush=100", "ovfl,signal=3", "trad,via=send", "trad,chunk=200,chunk-limit=2"}) {
      schedules.push_back(
          compiled(fmt::format("{}:ranks=3,bytes=20,messages=40,aggregation={}", pattern, how)));
    }
  }
  schedules.push_back(compiled("hex-search:ranks=3,rollouts=12,playouts=1,bundle=ovfl,age=1ms"));
  expect_faultless(3, schedules);
}

TEST(Irregular, RunAsTheyAreSimulated) {
  std::vector<sched::Schedule> schedules;
  for (const char* spec :
       {"random-access:ranks=3,accesses=20,tasks=3,words=2,by=fetch-add",
        "random-access:ranks=3,accesses=12,tasks=3,words=4,aggregation=destination,flush=128",
        "random-access:ranks=3,accesses=6,tasks=2,words=64,by=cached,cache-bytes=128",
        "tree-search:ranks=3,depth=3,tasks=2", "breadth-first-search:ranks=3,scale=4,tasks=2"}) {
    schedules.push_back(compiled(spec));
  }
  expect_faultless(3, schedules);
}

}  // namespace
}  // namespace slackline
