#include "offload/emulate_timed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "offload/compile_queues.h"
#include "sched/compile.h"

namespace slackline::offload {
namespace {

using machine::Platform;
using sched::Schedule;

constexpr const char* kFree = "star:rate=100Gbps,latency=1us";
constexpr const char* kCostly = "star:rate=100Gbps,latency=1us,o_post=200ns,o_complete=900ns";

Schedule schedule_of(const std::string& spec) { return sched::compile(sched::parse_spec(spec)); }

Emulation emulate(const Schedule& schedule, const QueueOptions& options, const char* platform,
                  const NicTiming& timing = {}) {
  const MessageGraph graph(schedule);
  const QueueProgram program = compile_queues(schedule, options);
  const Platform on = machine::parse_platform_spec(platform);
  const machine::Wiring wiring(on, schedule.rank_count());
  return emulate_timed(program, {schedule, on}, graph, timing);
}

// Where a rank sends to one other only, queues and a program that costs no CPU do the same.
TEST(EmulateTimed, IsTheEventEngineWhereSoftwareIsFree) {
  for (const char* spec : {"chain:ranks=6,bytes=10MiB,block=1MiB,ready=none,in-flight=0",
                           "chain:ranks=3,bytes=3MB,block=1MiB,ready=none,in-flight=0",
                           "sequential:ranks=2,bytes=5000,block=1000,ready=none,in-flight=0"}) {
    const Schedule schedule = schedule_of(spec);
    const double software_s =
        analysis::run_events({schedule, machine::parse_platform_spec(kFree)}).makespan_s();
    for (const Mode mode : {Mode::kSqWait, Mode::kMqEnable}) {
      QueueOptions options;
      options.mode = mode;
      options.readiness = Readiness::kNone;
      const Emulation run = emulate(schedule, options, kFree);
      ASSERT_TRUE(run.sound()) << run.faults.front();
      EXPECT_NEAR(run.trace.makespan_s(), software_s, 1e-9 * software_s) << spec;
    }
  }
}

TEST(EmulateTimed, PaysNoCpu) {
  const Schedule schedule = schedule_of("chain:ranks=8,bytes=1MiB,block=64KiB");
  const Emulation free = emulate(schedule, {}, kFree);
  const Emulation costly = emulate(schedule, {}, kCostly);
  EXPECT_EQ(free.trace.makespan_s(), costly.trace.makespan_s());
  const auto software = [&](const char* platform) {
    return analysis::run_events({schedule, machine::parse_platform_spec(platform)}).makespan_s();
  };
  EXPECT_LT(costly.trace.makespan_s(), software(kCostly));
  EXPECT_LT(software(kFree), software(kCostly));
}

TEST(EmulateTimed, CountsTheTimeOfEntries) {
  // Two relays, each behind a wait that the NIC takes 1 us to see; the handshakes' waits run
  // beside.
  const Schedule schedule = schedule_of("chain:ranks=3,bytes=1MiB,block=1MiB");
  NicTiming slow;
  slow.entry_time = sched::Time{5'000'000};
  const double with_s = emulate(schedule, {}, kFree, slow).trace.makespan_s();
  const double without_s = emulate(schedule, {}, kFree).trace.makespan_s();
  EXPECT_NEAR(with_s - without_s, 10e-6, 1e-12);
}

TEST(EmulateTimed, EveryOperationHasItsTime) {
  for (const char* more : {"", ",order=lockstep", ",ready=write,start=all", ",lower=put"}) {
    const Schedule schedule =
        schedule_of(fmt::format("binomial-tree:ranks=6,bytes=4MiB,block=1MiB{}", more));
    const Emulation run = emulate(schedule, {}, kFree);
    ASSERT_TRUE(run.sound());
    for (const sched::OpTimes& t : run.trace.ops) {
      EXPECT_LE(t.ready_s, t.issued_s);
      EXPECT_LE(t.issued_s, t.done_s);
      EXPECT_TRUE(std::isfinite(t.done_s));
    }
  }
}

// RDMC's fear (section 2): work done as soon as it is possible delays what is urgent.
TEST(EmulateTimed, LeastSlackFirstAvoidsPriorityInversion) {
  const Schedule schedule = schedule_of("binomial-tree:ranks=16,bytes=64MiB,block=1MiB");
  QueueOptions options;
  options.mode = Mode::kMqEnable;
  const auto makespan_s = [&](Egress egress) {
    return emulate(schedule, options, kFree, {egress, sched::Time{0}}).trace.makespan_s();
  };
  const double ideal_s = 4 * 64 * 1048576.0 * 8 / 100e9;
  EXPECT_LT(makespan_s(Egress::kLeastSlack), 1.01 * ideal_s);
  EXPECT_GT(makespan_s(Egress::kFifo), 1.3 * ideal_s);
  EXPECT_GT(makespan_s(Egress::kRoundRobin), 1.3 * ideal_s);
}

TEST(EmulateTimed, RefusesWhatItDoesNotModel) {
  const Schedule schedule = schedule_of("chain:ranks=3,bytes=1MiB,block=1MiB");
  EXPECT_THROW(emulate(schedule, {}, "star:nic=fair"), Unsupported);
}

}  // namespace
}  // namespace slackline::offload
