// Data structures on both engines: what they hold in the end, and that both engines agree on it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "sched/text.h"
#include "sim/simgrid_engine.h"
#include "tests/support/error_of.h"
#include "tests/support/structure_case.h"

namespace slackline {
namespace {

using testing::first_of;
using testing::structure_of;

const char* const kPlatforms[] = {
    "star:rate=80Gbps,latency=700ns,o_post=300ns,o_complete=200ns,gap=10ns,atomic_service=250ns,"
    "copy_rate=64Gbps",
    "star:latency=1us,atomic_service=4us,o_post=0ns", "cori",
    "star:rate=80Gbps,latency=700ns,o_post=300ns,atomic_service=250ns,own_messages=memory,"
    "memory_latency=50ns,cpu_atomic=20ns"};

TEST(StructureRuns, HoldWhatTheirOperationsLeave) {
  for (const char* platform : kPlatforms) {
    for (const std::string& spec : testing::structure_specs()) {
      const sched::StructureProgram program = structure_of(spec);
      const sched::Trace trace =
          analysis::run_events({program.schedule, machine::load_platform(platform)});
      EXPECT_EQ(first_of(sched::check_structure(program, trace,
                                                sched::kept_memory(program.schedule, trace))),
                "")
          << spec << " on " << platform;
      const bool kept =
          spec.find("via=am") == std::string::npos && spec.find("level=cl") == std::string::npos;
      EXPECT_EQ(!trace.memory.empty(), kept) << spec;
    }
  }
}

TEST(StructureRuns, SimGridAndTheEventEngineAgree) {
  const machine::Platform platform = machine::load_platform(kPlatforms[0]);
  for (const std::string& spec : testing::structure_specs()) {
    const sched::StructureProgram program = structure_of(spec);
    const sched::Trace events = analysis::run_events({program.schedule, platform});
    const sched::Trace flows = analysis::run_flows({program.schedule, platform});
    EXPECT_NEAR(flows.makespan_s(), events.makespan_s(), 1e-9 * events.makespan_s()) << spec;
    EXPECT_EQ(flows.memory, events.memory) << spec;
    EXPECT_EQ(flows.results, events.results) << spec;
    const sched::Trace simgrid = sim::run_simgrid({program.schedule, platform});
    EXPECT_NEAR(simgrid.makespan_s(), events.makespan_s(), 1e-9 * events.makespan_s()) << spec;
    EXPECT_EQ(simgrid.memory, events.memory) << spec;
    EXPECT_EQ(simgrid.results, events.results) << spec;
    EXPECT_EQ(first_of(sched::check_structure(program, simgrid,
                                              sched::kept_memory(program.schedule, simgrid))),
              "")
        << spec;
  }
}

// Each way of a search that can never end: a table that is full, and a key that is not there.
TEST(StructureRuns, ARetryThatCannotSucceedEndsWithAReport) {
  const machine::Platform platform = machine::load_platform(kPlatforms[0]);
  for (const bool full : {true, false}) {
    const sched::StructureProgram program =
        structure_of(full ? "hash-table:ranks=2,clients=1,operations=4,op=insert,slots=4"
                          : "hash-table:ranks=2,clients=1,operations=4,op=find,slots=4");
    std::string text = sched::write_text(program.schedule);
    const std::size_t digest = text.find("digest");
    ASSERT_NE(digest, std::string::npos);
    text.erase(digest, text.find('\n', digest) + 1 - digest);
    if (full) {  // what frees a bucket does so no longer: all are taken to begin with
      for (std::size_t at = text.find("compare 0"); at != std::string::npos;
           at = text.find("compare 0", at + 1)) {
        text.replace(at, 9, "compare 7");
      }
    } else {
      const std::size_t at = text.find("compare ");
      ASSERT_NE(at, std::string::npos);
      const std::size_t end = text.find(' ', at + 8);
      text.replace(at, end - at, "compare 1");
    }
    const sched::Schedule schedule = sched::read_text(text, "full.sched");
    const auto report_of = [&](auto&& run) { return testing::error_of(run); };
    EXPECT_THAT(report_of([&] {
                  analysis::run_events({schedule, platform});
                }),
                ::testing::HasSubstr("has failed all of its 4 attempts"));
    EXPECT_THAT(report_of([&] {
                  sim::run_simgrid({schedule, platform});
                }),
                ::testing::HasSubstr("has failed all of its 4 attempts"));
  }
}

// Four thousand million attempts would be a hang.
TEST(StructureRuns, AChanceOfZeroIsReportedSoon) {
  const sched::Schedule schedule = sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 8\nbuffer 1 rank 1 bytes 8\n"
      "channel 0 from 0 to 1\nrank 0\n  0 put on 0 reads 0[0+8] writes 1[0+8]\n"
      "region retry entry 0 count 1 attempts 4000000000 p 0\n");
  for (const bool events : {true, false}) {
    EXPECT_THAT(testing::error_of([&] {
                  events ? analysis::run_events({schedule, machine::Platform{}})
                         : sim::run_simgrid({schedule, machine::Platform{}});
                }),
                ::testing::HasSubstr("its chance of success is 0"));
  }
}

}  // namespace
}  // namespace slackline
