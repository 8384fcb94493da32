// Irregular patterns and calls carried out by real processes: their bytes are proved, everything
// ran once and in its order, words hold what a simulation leaves in them, and all memory is what
// the schedule makes of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "sched/workloads/run_check.h"
#include "tests/hw/local_ranks.h"
#include "tests/hw/session_ranks.h"
#include "tests/support/draft.h"
#include "tests/support/structure_interpreter.h"

namespace slackline {
namespace {

using testing::compiled;
using testing::Draft;
using testing::first_fault;
using testing::MeshRanks;
using testing::start_session;

using Specs = std::map<std::uint32_t, std::vector<std::string>>;  // by ranks

void add(Specs& specs, const std::string& pattern, const std::string& options) {
  const std::uint32_t ranks = options.find("hierarchical") == std::string::npos ? 4 : 6;
  specs[ranks].push_back(fmt::format("{}:ranks={},{}", pattern, ranks, options));
}

const std::vector<std::string>& aggregations() {
  static const std::vector<std::string> kHow = {
      "", ",aggregation=destination,flush=256,age=10us",
      ",aggregation=hierarchical,cores=2,group=2,flush=256,age=10us"};
  return kHow;
}

// Of several ranks that add to, write and read the same words.
Specs irregular() {
  Specs specs;
  for (const std::string& how : aggregations()) {
    for (const char* const what :
         {"access=fetch-add", "access=add,address=2d", "access=read", "access=write,seed=3"}) {
      add(specs, "random-access", fmt::format("accesses=30,tasks=4,words=6,{}{}", what, how));
    }
    add(specs, "tree-search", "depth=4,tasks=4,work=200ns" + how);
    add(specs, "breadth-first-search", "scale=5,tasks=3" + how);
    add(specs, "hex-search", "rollouts=20,tasks=2,playouts=2,work=1us" + how);
  }
  for (const char* const what : {"", ",address=2d,seed=2"}) {
    add(specs, "random-access", std::string("by=fetch-add,accesses=40,tasks=4,words=2") + what);
  }
  for (const char* const cache : {"read-only", "read-write", "write-only"}) {
    add(specs, "random-access",
        fmt::format("by=cached,accesses=10,tasks=2,words=256,cache-bytes=128,cache={}", cache));
  }
  add(specs, "breadth-first-levels", "scale=6,work=5ns,handler=10ns");
  for (const std::string& how : aggregations()) {
    add(specs, "random-access",
        "by=cached,cache=exclusive,accesses=10,tasks=2,words=64,cache-bytes=128" + how);
  }
  add(specs, "random-access",
      "by=fetch-add,accesses=40,tasks=4,words=9,home=others,resident=2,switch-miss=300ns");
  for (const char* const bundle : {"trad,flush=512,age=50us", "trad", "ovfl"}) {
    add(specs, "hex-search",
        fmt::format("rollouts=20,tasks=2,playouts=2,record=40,bundle={}", bundle));
  }
  specs[1].push_back("random-access:ranks=1,accesses=30,tasks=4,words=6,by=fetch-add");
  specs[1].push_back("tree-search:ranks=1,depth=3");
  return specs;
}

Specs calls() {
  Specs specs;
  for (const char* const pattern :
       {"call", "call-buffer", "call-buffer-write", "call-buffer-read", "call-return", "broadcast",
        "broadcast-buffer", "broadcast-buffer-write", "broadcast-buffer-read"}) {
    for (const char* const how :
         {"chunk=256,chunk-limit=3", "via=send,slots=4", "notify=consume,signal=3",
          "aggregation=trad,flush=200,notify=consume", "aggregation=ovfl,signal=3"}) {
      specs[3].push_back(fmt::format("{}:ranks=3,bytes=24,messages=12,{}", pattern, how));
    }
  }
  return specs;
}

class IrregularOn : public ::testing::TestWithParam<const char*> {};

// Every rank runs every program; rank 0 says what is wrong with it, or nothing.
void expect_faultless(const std::string& transport, Specs specs) {
  for (auto& [ranks, all] : specs) {
    // ofi_rxm takes long to connect: it runs every third.
    for (std::size_t i = 0; transport == "tcp;ofi_rxm" && i < all.size(); ++i) {
      if (i + 1 < all.size()) all.erase(all.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      if (i + 1 < all.size()) all.erase(all.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
    MeshRanks processes;
    start_session(
        processes, transport, ranks,
        [&](hw::Session& session, hw::Mesh& mesh, const MeshRanks::Say& say) {
          for (const std::string& spec : all) {
            const sched::Schedule schedule = compiled(spec);
            hw::RunOptions options;
            const hw::RunResult result = session.run(schedule, options);
            if (mesh.rank() != 0) continue;
            std::string fault = first_fault(schedule, options, result);
            const auto lost = sched::check_fetch_adds(schedule, result.trace);
            if (fault.empty() && !lost.empty()) fault = lost.front().message;
            const sched::Trace simulated = analysis::run_events({schedule, machine::Platform{}});
            if (fault.empty() && result.trace.memory != simulated.memory) {
              fault = "other bytes than in simulation";
            }
            say(fault);
          }
        });
    for (const std::string& spec : all)
      ASSERT_EQ(processes.next(0), "") << transport << " " << spec;
    for (std::uint32_t r = 0; r < ranks; ++r) EXPECT_EQ(processes.next(r), "(end)");
  }
}

TEST_P(IrregularOn, RunsAsItIsSimulated) { expect_faultless(GetParam(), irregular()); }

TEST_P(IrregularOn, CallsRunOnceAndInOrder) { expect_faultless(GetParam(), calls()); }

INSTANTIATE_TEST_SUITE_P(All, IrregularOn, ::testing::Values("shm", "net", "tcp;ofi_rxm"),
                         [](const auto& entry) {
                           const std::string name = entry.param;
                           return name == "tcp;ofi_rxm" ? std::string("rxm") : name;
                         });

// What the ranks' memory is when all are through, rank by rank.
std::vector<std::byte> executed(const sched::Schedule& schedule, std::string& error) {
  std::vector<std::byte> bytes;
  for (const testing::RankReport& report : testing::run_locally(
           schedule, [] { return testing::transport_named("shm"); }, std::chrono::seconds(30),
           testing::Told::kAll)) {
    if (error.empty()) error = report.error;
    bytes.insert(bytes.end(), report.memory.begin(), report.memory.end());
  }
  return bytes;
}

std::vector<std::byte> interpreted(const sched::Schedule& schedule, std::uint64_t seed) {
  const testing::Interpreted ran = testing::interpret(schedule, seed);
  std::vector<std::byte> bytes;
  for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
    for (std::uint32_t b = 0; b < schedule.buffers().size(); ++b) {
      if (schedule.buffers()[b].rank.value != r) continue;
      bytes.insert(bytes.end(), ran.memory[b].begin(), ran.memory[b].end());
    }
  }
  return bytes;
}

// Records, queues, replies and marks too: an interpreter that knows neither time nor transports
// leaves the same, in whatever order it goes.
TEST(Irregular, AllMemoryIsWhatTheScheduleMakesOfIt) {
  testing::transport_named("shm");
  for (const char* const spec :
       {"random-access:ranks=3,accesses=12,tasks=3,words=3,aggregation=destination,flush=128",
        "random-access:ranks=3,accesses=6,tasks=2,words=64,by=cached,cache-bytes=72",
        "tree-search:ranks=3,depth=3,tasks=2",
        "breadth-first-search:ranks=4,scale=4,tasks=2,aggregation=hierarchical,group=2,age=5us",
        "hex-search:ranks=3,rollouts=8,tasks=2,playouts=1,bundle=trad",
        "call-return:ranks=3,bytes=24,messages=10,via=send,slots=3,notify=consume"}) {
    const sched::Schedule schedule = compiled(spec);
    std::string error;
    const std::vector<std::byte> got = executed(schedule, error);
    ASSERT_EQ(error, "") << spec;
    for (const std::uint64_t seed : {1, 2}) {
      EXPECT_EQ(got == interpreted(schedule, seed), true) << spec << " " << seed;
    }
  }
}

// The bytes of a real run show each handler that does not add, adds twice, or overwrites.
TEST(Irregular, HandlersThatGoWrongAreNoticed) {
  const sched::Schedule sound =
      compiled("random-access:ranks=2,accesses=4,words=1,tasks=2,access=add");
  std::vector<sched::Schedule> broken;
  for (std::uint32_t i = 0; i < sound.op_count() && broken.size() < 9; ++i) {
    if (sound.ops()[i].kind != sched::OpKind::kReduce) continue;
    for (const char bug : {'n', 't', 'l'}) {
      Draft draft = Draft::from(sound);
      std::vector<sched::Slice>& reads = draft.ops[i].reads;
      if (bug == 'n') reads.pop_back();
      if (bug == 't') reads.push_back(reads.back());
      if (bug == 'l') reads.erase(reads.begin());
      broken.push_back(draft.build());
    }
  }
  ASSERT_EQ(broken.size(), 9u);
  MeshRanks processes;
  start_session(processes, "shm", 2,
                [&](hw::Session& session, hw::Mesh& mesh, const MeshRanks::Say& say) {
                  for (const sched::Schedule& schedule : broken) {
                    const hw::RunResult result = session.run(schedule, {});
                    if (mesh.rank() == 0) say(result.breach ? "noticed" : "not noticed");
                  }
                });
  for (std::size_t i = 0; i < broken.size(); ++i) EXPECT_EQ(processes.next(0), "noticed") << i;
}

}  // namespace
}  // namespace slackline
