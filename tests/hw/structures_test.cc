// Data structures run by real processes: they hold what their operations should leave, and where
// one client alone acts on them, the very bytes of a simulation.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "analysis/engines/event_engine.h"
#include "hw/session.h"
#include "hw/transports.h"
#include "sched/workloads/structures/structure_check.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/support/structure_case.h"

namespace slackline {
namespace {

using testing::first_of;
using testing::MeshRanks;
using testing::structure_of;

std::unique_ptr<hw::Transport> transport_named(const std::string& name) {
  hw::TransportOptions options;
  if (name != "shm") options.host = "127.0.0.1";
  return hw::make_transport(name, options);
}

// Every rank runs every program; rank 0 says what is wrong with what it left, or nothing.
std::vector<std::string> verdicts(const std::string& transport, std::uint32_t ranks,
                                  const std::vector<std::string>& specs, bool as_simulated) {
  MeshRanks processes;
  processes.start_all(ranks, [&](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
    hw::Mesh mesh(mesh_options);
    const auto net = transport_named(transport);
    hw::Session session(mesh, *net);
    for (const std::string& spec : specs) {
      const sched::StructureProgram program = structure_of(spec);
      const hw::RunResult result = session.run(program.schedule, {});
      if (mesh.rank() != 0) continue;
      const sched::Trace& trace = result.trace;
      const sched::FinalMemory memory = sched::kept_memory(program.schedule, trace);
      std::string verdict = first_of(sched::check_contents(program, trace, memory));
      if (verdict.empty()) verdict = first_of(sched::check_handlers(program, trace));
      if (verdict.empty() && as_simulated) {
        const sched::Trace simulated =
            analysis::run_events({program.schedule, machine::Platform{}});
        if (trace.memory != simulated.memory) verdict = "other bytes than in simulation";
        if (trace.results != simulated.results) verdict = "other results than in simulation";
      }
      say(verdict);
    }
  });
  std::vector<std::string> said;
  for (std::size_t i = 0; i < specs.size(); ++i) said.push_back(processes.next(0));
  for (std::uint32_t r = 0; r < ranks; ++r) EXPECT_EQ(processes.next(r), "(end)");
  return said;
}

class StructuresOn : public ::testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { transport_named("shm"); }
};

TEST_P(StructuresOn, HoldWhatTheirOperationsLeave) {
  for (std::uint32_t ranks = 2; ranks <= 5; ++ranks) {
    std::vector<std::string> specs;
    for (const std::string& spec : testing::structure_specs()) {
      if (spec.find("ranks=" + std::to_string(ranks) + ",") != std::string::npos) {
        specs.push_back(spec);
      }
    }
    const std::vector<std::string> said = verdicts(GetParam(), ranks, specs, false);
    for (std::size_t i = 0; i < specs.size(); ++i) EXPECT_EQ(said[i], "") << specs[i];
  }
}

TEST_P(StructuresOn, OneClientLeavesWhatASimulationDoes) {
  const std::vector<std::string> specs = {
      "hash-table:ranks=3,clients=1,operations=40,op=insert,load=1",
      "hash-table:ranks=3,clients=1,operations=40,level=cw,seed=4",
      "hash-table:ranks=3,clients=1,operations=40,phases=1,load=0.9",
      "hash-table:ranks=3,clients=1,operations=40,op=find,level=cr,load=1",
      "queue:ranks=3,clients=1,operations=40",
      "queue:ranks=3,clients=1,operations=40,phases=1,slots=4",
      "queue:ranks=3,clients=1,operations=40,level=cw",
      "queue:ranks=3,clients=1,operations=40,level=checksum",
      "queue:ranks=3,clients=1,operations=40,op=pop,level=cr",
      "hash-table:ranks=3,clients=1,operations=40,load=1,entry=200,targets=any",
      "hash-table:ranks=3,clients=1,operations=20,level=cw,entry=4096,sizes=drawn,seed=4",
      "hash-table:ranks=3,clients=1,operations=40,phases=1,load=0.9,entry=72,sizes=drawn",
      "queue:ranks=3,clients=1,operations=40,entry=1024,targets=any,claim=swap",
      "queue:ranks=3,clients=1,operations=40,phases=1,slots=4,entry=64,claim=read-swap",
      "queue:ranks=3,clients=1,operations=40,level=checksum,entry=24,sizes=fixed",
      "queue:ranks=3,clients=1,operations=4,op=pop,level=cr,entry=1048576",
  };
  const std::vector<std::string> said = verdicts(GetParam(), 3, specs, true);
  for (std::size_t i = 0; i < specs.size(); ++i) EXPECT_EQ(said[i], "") << specs[i];
}

INSTANTIATE_TEST_SUITE_P(All, StructuresOn, ::testing::Values("shm", "net"),
                         [](const auto& entry) { return std::string(entry.param); });

}  // namespace
}  // namespace slackline
