// Queues that NICs work off alone, inside SimGrid and on the emulator's own clock, and beside the
// same schedule in software.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "machine/platform.h"
#include "offload/compile_queues.h"
#include "offload/emulate_timed.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"
#include "tests/differential/agreement.h"

namespace slackline {
namespace {

using machine::Platform;
using offload::Emulation;
using offload::Mode;
using offload::Readiness;
using sched::Schedule;

Schedule schedule_of(const std::string& spec) { return sched::compile(sched::parse_spec(spec)); }

struct Queues {
  explicit Queues(const Schedule& schedule_in, Mode mode, Readiness readiness)
      : schedule(schedule_in), graph(schedule_in), program([&] {
          offload::QueueOptions options;
          options.mode = mode;
          options.readiness = readiness;
          options.window = 2;
          return compile_queues(schedule_in, graph, options);
        }()) {}

  Emulation alone(const Platform& platform, const machine::DelayPlan& delays = {},
                  const offload::NicTiming& timing = {}) const {
    return emulate_timed(program, {schedule, platform, delays}, graph, timing);
  }

  Emulation in_simgrid(const Platform& platform, const machine::DelayPlan& delays = {},
                       const offload::NicTiming& timing = {}) const {
    const machine::Setting setting(schedule, platform, delays);
    const offload::NicClock clock{[&](const machine::Paths& paths, const machine::MakeRun& make) {
                                    return sim::kSimgridEngine.drive(setting, paths, make);
                                  },
                                  "offload:simgrid"};
    return emulate_timed(program, setting, graph, timing, clock);
  }

  const Schedule& schedule;
  offload::MessageGraph graph;
  offload::QueueProgram program;
};

TEST(OffloadInSimgrid, IsTheEmulatorOnStarsWithSerialNics) {
  const std::vector<std::pair<Mode, Readiness>> ways = {{Mode::kSqWait, Readiness::kHandshake},
                                                        {Mode::kSqWait, Readiness::kWindow},
                                                        {Mode::kMqEnable, Readiness::kHandshake},
                                                        {Mode::kMqEnable, Readiness::kNone},
                                                        {Mode::kRdmcMq, Readiness::kNone}};
  std::size_t turn = 0;
  for (const char* spec :
       {"chain:ranks=5,bytes=1MB,block=100KB", "binomial-tree:ranks=9,bytes=1MB,block=64KiB",
        "binomial-pipeline:ranks=13,bytes=1MB,block=64KiB",
        "circulant:ranks=7,bytes=1MB,block=90KB", "scatter-allgather:ranks=8,bytes=1MB,block=64KiB",
        "hybrid:ranks=8,bytes=1MB,block=64KiB",
        "double-tree:ranks=10,bytes=1MB,block=64KiB,lower=put",
        // Messages that travel between the packets of others, and of both kinds.
        "binomial-pipeline:ranks=6,bytes=40000,block=4000",
        "binomial-pipeline:ranks=6,bytes=17000,block=5000"}) {
    const Schedule schedule = schedule_of(spec);
    for (const char* platform :
         {"star:rate=100Gbps,latency=1us", "star:rate=40Gbps,latency=3us,gap=20us"}) {
      const Platform on = machine::parse_platform_spec(platform);
      for (const offload::Egress egress :
           {offload::Egress::kFifo, offload::Egress::kRoundRobin, offload::Egress::kLeastSlack}) {
        const auto [mode, readiness] = ways[turn++ % ways.size()];
        const Queues queues(schedule, mode, readiness);
        const offload::NicTiming timing{egress, sched::Time{turn % 2 == 0 ? 0 : 300'000}};
        const Emulation alone = queues.alone(on, {}, timing);
        const Emulation inside = queues.in_simgrid(on, {}, timing);
        ASSERT_TRUE(alone.sound()) << alone.faults.front();
        ASSERT_TRUE(inside.sound()) << inside.faults.front();
        EXPECT_EQ(alone.not_ready, inside.not_ready);
        EXPECT_EQ(inside.trace.engine, "offload:simgrid");
        testing::expect_equal(
            alone.trace, inside.trace,
            fmt::format("{} on {}, {}, {}", spec, platform, name(mode), name(egress)));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(OffloadInSimgrid, FeelsSlowLinksAsTheEmulatorDoes) {
  const Schedule schedule = schedule_of("binomial-pipeline:ranks=8,bytes=1MB,block=64KiB");
  const Platform on = machine::parse_platform_spec("star:rate=100Gbps,latency=1us");
  machine::DelayPlan delays;
  delays.pairs.push_back({sched::RankId(0), sched::RankId(1), sched::parse_rate("10Gbps", "rate")});
  const Queues queues(schedule, Mode::kSqWait, Readiness::kHandshake);
  const Emulation alone = queues.alone(on, delays);
  testing::expect_equal(alone.trace, queues.in_simgrid(on, delays).trace, "a slow pair");
  EXPECT_GT(alone.trace.makespan_s(), 2 * queues.alone(on).trace.makespan_s());
}

// Two racks behind uplinks of a quarter of their NICs' rates, every hop between them: 8 flows share
// what two would fill. Where software is free and each rank sends to one other, queues and software
// do the same, so SimGrid must slow both by the same.
TEST(OffloadInSimgrid, SharesLinksAsSoftwareDoes) {
  const Schedule schedule =
      schedule_of("chain:ranks=16,bytes=8MiB,block=512KiB,ready=none,in-flight=0");
  const Platform on = machine::parse_platform_spec(
      "two-level:racks=2,hosts=8,rate=100Gbps,latency=1us,oversubscription=4,"
      "placement=round-robin,o_post=0,o_complete=0");
  const double software_s = sim::run_simgrid({schedule, on}).makespan_s();
  for (const Mode mode : {Mode::kSqWait, Mode::kMqEnable}) {
    const Queues queues(schedule, mode, Readiness::kNone);
    const Emulation inside = queues.in_simgrid(on);
    ASSERT_TRUE(inside.sound()) << inside.faults.front();
    EXPECT_NEAR(inside.trace.makespan_s(), software_s, 1e-9 * software_s) << name(mode);
    EXPECT_GT(inside.trace.makespan_s(), 1.5 * queues.alone(on).trace.makespan_s());
  }
}

// …and where software costs, what offload spares it shows beside the sharing.
TEST(OffloadInSimgrid, SparesSoftwareItsCpuOnSharedLinksToo) {
  const Schedule schedule = schedule_of("binomial-pipeline:ranks=16,bytes=8MiB,block=256KiB");
  const std::string network =
      "two-level:racks=2,hosts=8,rate=100Gbps,latency=1us,oversubscription=4,"
      "placement=round-robin,";
  const Platform free = machine::parse_platform_spec(network + "o_post=0,o_complete=0");
  const Platform costly = machine::parse_platform_spec(network + "o_post=2us,o_complete=20us");
  const Queues queues(schedule, Mode::kSqWait, Readiness::kHandshake);
  const double offload_s = queues.in_simgrid(costly).trace.makespan_s();
  EXPECT_EQ(offload_s, queues.in_simgrid(free).trace.makespan_s());
  EXPECT_LT(offload_s, sim::run_simgrid({schedule, costly}).makespan_s());
  EXPECT_GT(offload_s, 1.2 * queues.alone(costly).trace.makespan_s());
}

// What goes wrong there is told here.
TEST(OffloadInSimgrid, TellsFaults) {
  const Schedule schedule = schedule_of("binomial-pipeline:ranks=4,bytes=64KiB,block=16KiB");
  const Platform on = machine::parse_platform_spec("star:rate=100Gbps,latency=1us");
  Queues queues(schedule, Mode::kSqWait, Readiness::kHandshake);
  for (const int by : {-1, 1}) {
    offload::QueueProgramBuilder builder(queues.program);
    for (std::uint32_t q = 0; q < queues.program.queues().size(); ++q) {
      for (offload::Entry& entry : builder.entries(offload::QueueId(q))) {
        if (entry.kind != offload::EntryKind::kWait || (by < 0 && entry.count < 2)) continue;
        entry.count += static_cast<std::uint64_t>(std::int64_t{by});
      }
    }
    const offload::QueueProgram right = queues.program;
    queues.program = builder.build();
    const Emulation alone = queues.alone(on);
    const Emulation inside = queues.in_simgrid(on);
    EXPECT_FALSE(inside.sound());
    EXPECT_EQ(alone.faults, inside.faults);
    EXPECT_EQ(alone.stuck, inside.stuck);
    queues.program = right;
  }
}

}  // namespace
}  // namespace slackline
