// Real runs on a transport that breaks its promises at one rank: what looks at the run says so.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "hw/session.h"
#include "sched/workloads/run_check.h"
#include "sched/workloads/structures/structure_check.h"
#include "tests/hw/faulty_transport.h"
#include "tests/hw/session_ranks.h"
#include "tests/support/structure_case.h"

namespace slackline {
namespace {

using testing::Fault;
using testing::MeshRanks;

struct Case {
  std::string spec;
  Fault fault;
  std::uint32_t at;  // of rank 1's
  std::uint32_t iterations = 1;
};

// What is found wrong with a run of it, at rank 0: "bytes", "words" or "structure"; "" if nothing.
std::string found(const std::string& transport, const Case& what) {
  MeshRanks processes;
  testing::transport_named("shm");
  processes.start_all(3, [=](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
    hw::Mesh mesh(mesh_options);
    auto net = testing::transport_named(transport);
    if (mesh.rank() == 1) {
      net = std::make_unique<testing::FaultyTransport>(std::move(net), what.fault, what.at);
    }
    hw::Session session(mesh, *net);
    const sched::Spec spec = sched::parse_spec(what.spec);
    const sched::Schedule schedule = sched::compile(spec);
    hw::RunOptions options;
    options.iterations = what.iterations;
    options.warm_up = 0;
    const hw::RunResult result = session.run(schedule, options);
    if (mesh.rank() != 0) return;
    if (result.breach) return say("bytes");
    if (!sched::check_fetch_adds(schedule, result.trace).empty()) return say("words");
    if (!sched::is_structure_pattern(spec.pattern)) return say("");
    const sched::StructureProgram program = testing::structure_of(what.spec);
    const auto memory = sched::kept_memory(program.schedule, result.trace);
    say(sched::check_structure(program, result.trace, memory).empty() ? "" : "structure");
  });
  return processes.next(0);
}

const std::string kTable = "hash-table:ranks=3,operations=20,op=insert,load=1";
const std::string kAdds = "random-access:ranks=3,accesses=40,tasks=4,words=2,by=fetch-add";

TEST(FaultyRuns, NothingIsFoundWithoutAFault) {
  for (const std::string& spec : {kTable, kAdds}) {
    EXPECT_EQ(found("net", {spec, Fault::kNone, 0}), "") << spec;
  }
}

TEST(FaultyRuns, ALostWriteIsNoticed) {
  for (const std::uint32_t at : {0, 7}) {
    EXPECT_EQ(found("net", {kTable, Fault::kLostWrite, at}), "structure");
  }
  // What was written comes back in the result, or is what others read.
  EXPECT_EQ(
      found("net", {"broadcast-buffer:ranks=3,root=1,bytes=100,messages=10", Fault::kLostWrite, 4}),
      "bytes");
  EXPECT_EQ(found("net", {"random-access:ranks=3,accesses=20,words=2,access=add,"
                          "aggregation=destination,flush=128",
                          Fault::kLostWrite, 0}),
            "bytes");
}

// What the iteration before left is no proof: rank 1 writes 10 messages to 2 ranks in each.
TEST(FaultyRuns, ALostWriteOfALaterIterationIsNoticed) {
  const std::string spec = "broadcast-buffer:ranks=3,root=1,bytes=100,messages=10";
  EXPECT_EQ(found("net", {spec, Fault::kNone, 0, 2}), "");
  EXPECT_EQ(found("net", {spec, Fault::kLostWrite, 24, 2}), "bytes");
}

TEST(FaultyRuns, AnAddThatActsTwiceIsNoticed) {
  for (const std::uint32_t at : {0, 20}) {
    EXPECT_EQ(found("net", {kAdds, Fault::kTwice, at}), "words");
  }
}

TEST(FaultyRuns, ASwapThatLiesIsNoticed) {
  EXPECT_EQ(found("net", {kTable, Fault::kLyingSwaps, 0}), "structure");
}

}  // namespace
}  // namespace slackline
