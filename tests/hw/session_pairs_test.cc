// Schedules of every kind, one after the other in one session: what a run leaves behind in the
// transport does no harm to the next, whichever it is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "sched/workloads/structures/structure_check.h"
#include "tests/hw/session_ranks.h"
#include "tests/support/structure_case.h"

namespace slackline {
namespace {

using testing::compiled;
using testing::first_fault;
using testing::first_of;
using testing::MeshRanks;
using testing::start_session;
using testing::structure_of;
using testing::transport_named;

constexpr std::uint32_t kRanks = 4;

// Of 4 ranks each. Beside every pattern: with and without credits, sent and put, windows, gathered
// calls, atomics, and what repeats itself.
constexpr std::array kSpecs = {
    "sequential:bytes=3000,block=700",
    "chain:bytes=1000,block=100",
    "chain:bytes=1000,block=100,ready=none",
    "chain:bytes=600,block=100,messages=3,lower=put",
    "chain:bytes=0",
    "binomial-tree:bytes=5000,block=1000",
    "binomial-pipeline:bytes=4000,block=400,lower=put",
    "binomial-pipeline:bytes=2000,block=400,order=lockstep",
    "circulant:bytes=2000,block=300,ready=write",
    "circulant:bytes=2000,block=300,first-block=copy,in-flight=0,window=4,start=all",
    "hybrid:bytes=3000,block=500,racks=2",
    "scatter-allgather:bytes=4000,block=500",
    "binary-tree:bytes=2000,block=250,window=3",
    "double-tree:bytes=2000,block=200,lower=put,ready=write",
    "ring-buffer:bytes=64,messages=20,slots=4",
    "ring-buffer:bytes=64,messages=20,slots=4,consume=in-place",
    "table-multicast:bytes=64,messages=20,slots=4,batch=2,delivery=stable",
    "reduce:bytes=3000,block=1000",
    "allreduce:bytes=3000,block=1000,ready=none,slots=8",
    "allgather:bytes=2000,block=500",
    "allreduce:bytes=3000,block=500,by=rabenseifner,adders=2",
    "reduce-scatter:bytes=3001,block=500",
    "gather:bytes=700,root=1",
    "alltoall:bytes=700,by=bruck",
    "barrier:messages=3",
    "call:bytes=24,messages=12,chunk=256,chunk-limit=3",
    "call-buffer:bytes=24,messages=12,via=send,slots=4",
    "call-buffer-write:bytes=24,messages=12,notify=consume,signal=3",
    "call-buffer-read:bytes=300,messages=6",
    "call-return:bytes=20,messages=20,aggregation=trad,via=send",
    "call-return:bytes=24,messages=12,aggregation=ovfl,signal=3",
    "broadcast:bytes=8,messages=12,via=send,slots=4",
    "broadcast-buffer:bytes=24,messages=12,aggregation=trad,flush=200,notify=consume",
    "broadcast-buffer-write:bytes=300,messages=6,chunk=128,chunks=1,chunk-limit=2",
    "broadcast-buffer-read:bytes=24,messages=12,aggregation=ovfl",
    "random-access:accesses=20,tasks=4,words=6,access=fetch-add,aggregation=destination,flush=256,"
    "age=10us",
    "random-access:accesses=20,tasks=4,words=6,access=write,seed=3",
    "random-access:by=cached,accesses=10,tasks=2,words=256,cache-bytes=128,cache=read-write",
    "tree-search:depth=3,tasks=2",
    "breadth-first-search:scale=4,tasks=2",
    "hex-search:rollouts=10,tasks=2,playouts=2,record=40,bundle=trad,flush=512,age=50us",
    "hex-search:rollouts=10,tasks=2,playouts=2,record=40,bundle=ovfl",
    "one-sided:operations=20,op=compare-swap",
    "hash-table:operations=10,phases=1",
    "queue:operations=10,via=am",
};

// Places in kSpecs in which every pair stands somewhere, one right after the other, none twice.
std::vector<std::size_t> all_pairs() {
  std::vector<std::size_t> walk;
  for (std::size_t i = 0; i < kSpecs.size(); ++i) {
    walk.push_back(i);
    for (std::size_t j = i + 1; j < kSpecs.size(); ++j) walk.insert(walk.end(), {i, j});
  }
  walk.push_back(0);
  return walk;
}

// Each once, and some again behind others.
std::vector<std::size_t> some_pairs() {
  constexpr std::size_t kRuns = 65;
  std::mt19937 random(20);
  std::vector<std::size_t> walk;
  while (walk.size() < kRuns) {
    const auto begin = static_cast<std::ptrdiff_t>(walk.size());
    for (std::size_t i = 0; i < kSpecs.size(); ++i) walk.push_back(i);
    std::shuffle(walk.begin() + begin, walk.end(), random);
  }
  walk.resize(kRuns);
  return walk;
}

// What is compiled, and whether it is a data structure, which is held to its contents.
struct Subject {
  explicit Subject(const std::string& spec) {
    if (spec.starts_with("hash-table") || spec.starts_with("queue")) {
      structure.emplace(structure_of(spec));
    } else {
      plain.emplace(compiled(spec));
    }
  }
  const sched::Schedule& schedule() const { return structure ? structure->schedule : *plain; }
  // At rank 0.
  std::string fault(const hw::RunOptions& options, const hw::RunResult& result) const {
    if (!structure) return first_fault(schedule(), options, result);
    if (result.breach) return *result.breach;
    return first_of(sched::check_contents(*structure, result.trace,
                                          sched::kept_memory(schedule(), result.trace)));
  }

  std::optional<sched::Schedule> plain;
  std::optional<sched::StructureProgram> structure;
};

class SessionPairs : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { transport_named("shm"); }
};

TEST_P(SessionPairs, RunOneAfterTheOther) {
  const bool all = std::getenv("SLACKLINE_SESSION_PAIRS") != nullptr;
  const std::vector<std::size_t> walk = all ? all_pairs() : some_pairs();
  std::vector<Subject> subjects;
  for (std::string spec : kSpecs) {
    subjects.emplace_back(spec.insert(spec.find(':') + 1, fmt::format("ranks={},", kRanks)));
  }
  MeshRanks processes;
  start_session(
      processes, GetParam(), kRanks,
      [&](hw::Session& session, hw::Mesh& mesh, const MeshRanks::Say& say) {
        hw::RunOptions options;
        options.warm_up = 0;
        for (const std::size_t i : walk) {
          const hw::RunResult result = session.run(subjects[i].schedule(), options);
          say(mesh.rank() == 0 ? subjects[i].fault(options, result) : result.breach.value_or(""));
        }
      });
  for (std::size_t run = 0; run < walk.size(); ++run) {
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      ASSERT_EQ(processes.next(r), "")
          << "rank " << r << ", run " << run << ": " << kSpecs[walk[run]]
          << (run == 0 ? "" : " after ") << (run == 0 ? "" : kSpecs[walk[run - 1]]);
    }
  }
  for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(processes.next(r), "(end)");
}

INSTANTIATE_TEST_SUITE_P(All, SessionPairs, ::testing::Values("shm", "net", "tcp;ofi_rxm"),
                         [](const auto& tested) {
                           return std::string(tested.param) == "tcp;ofi_rxm" ? "rxm" : tested.param;
                         });

}  // namespace
}  // namespace slackline
