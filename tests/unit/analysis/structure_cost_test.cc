// Prices of operations on data structures: the paper's, and what a run alone takes; the rules of
// active messages.
#include "analysis/structure_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/am_rules.h"
#include "analysis/event_engine.h"
#include "sched/builder.h"
#include "tests/support/structure_case.h"

namespace slackline {
namespace {

using analysis::find_cost_row;
using sched::Op;
using sched::OpKind;
using sched::Promise;
using sched::RankId;
using sched::StructureAccess;
using ::testing::HasSubstr;
using testing::structure_of;

double stated_us(StructureAccess access, Promise level) {
  return 1e6 * find_cost_row(access, level)->price_s(analysis::stated_costs());
}

TEST(StructureCost, TableOneGivesThePapersPrices) {
  EXPECT_NEAR(stated_us(StructureAccess::kInsert, Promise::kReadWrite), 10.7, 1e-9);
  EXPECT_NEAR(stated_us(StructureAccess::kInsert, Promise::kWrite), 6.8, 1e-9);
  EXPECT_NEAR(stated_us(StructureAccess::kFind, Promise::kReadWrite), 11.5, 1e-9);
  EXPECT_NEAR(stated_us(StructureAccess::kFind, Promise::kRead), 3.7, 1e-9);
  EXPECT_NEAR(stated_us(StructureAccess::kPush, Promise::kReadWrite), 3.9 + 3.0 + 3.8, 1e-9);
  EXPECT_NEAR(stated_us(StructureAccess::kPush, Promise::kWrite), 6.9, 1e-9);
  EXPECT_NEAR(stated_us(StructureAccess::kPop, Promise::kReadWrite), 3.9 + 3.7 + 3.8, 1e-9);
  EXPECT_NEAR(stated_us(StructureAccess::kPop, Promise::kRead), 7.6, 1e-9);
  EXPECT_EQ(stated_us(StructureAccess::kPush, Promise::kLocal), 0);
  EXPECT_EQ(find_cost_row(StructureAccess::kPush, Promise::kChecksum), nullptr);
  EXPECT_EQ(analysis::cost_rows().size(), 10u);
}

TEST(StructureCost, OnlyQueuesHaveSingleVariables) {
  analysis::ComponentCosts costs = analysis::stated_costs();
  costs.single_fetch_s = 10e-6;
  const auto us = [&](StructureAccess access, Promise level) {
    return 1e6 * find_cost_row(access, level)->price_s(costs, true);
  };
  EXPECT_NEAR(us(StructureAccess::kPush, Promise::kWrite), 13.0, 1e-9);
  EXPECT_NEAR(us(StructureAccess::kFind, Promise::kReadWrite), 11.5, 1e-9);
}

// One operation of one client, on platforms with every kind of cost.
TEST(StructureCost, AnOperationAloneTakesTheSumOfItsMessages) {
  for (const char* text :
       {"star:rate=80Gbps,latency=700ns,o_post=300ns,o_complete=200ns,gap=10ns,"
        "atomic_service=250ns,"
        "copy_rate=64Gbps",
        "cori", "cori:ranks_per_node=1,zones_per_node=1", "star:nic=fair,rate=1Gbps,latency=3us"}) {
    const machine::Platform platform = machine::load_platform(text);
    const machine::Wiring wiring(platform, 2);
    const sched::Time handler{400'000};
    const analysis::ComponentCosts costs =
        analysis::idle_costs(platform, wiring, RankId(1), RankId(0), handler);
    for (const analysis::CostRow& row : analysis::cost_rows()) {
      const bool table =
          row.access == StructureAccess::kInsert || row.access == StructureAccess::kFind;
      const std::string spec =
          (table ? "hash-table" : "queue") +
          (":ranks=2,clients=1,handler=400ns,op=" + std::string(name(row.access))) +
          ",level=" + std::string(sched::name(row.level));
      const sched::StructureProgram program = structure_of(spec);
      const sched::Trace trace = analysis::run_events(program.schedule, platform);
      const double took_s = trace.ops[program.ops.front().last.value].done_s;
      EXPECT_NEAR(took_s, row.price_s(costs), 1e-9 * took_s) << text << ": " << spec;
    }
    for (const StructureAccess access : {StructureAccess::kInsert, StructureAccess::kFind,
                                         StructureAccess::kPush, StructureAccess::kPop}) {
      const bool table = access == StructureAccess::kInsert || access == StructureAccess::kFind;
      const sched::StructureProgram program =
          structure_of((table ? "hash-table" : "queue") +
                       (":ranks=2,clients=1,via=am,handler=400ns,op=" + std::string(name(access))));
      const sched::Trace trace = analysis::run_events(program.schedule, platform);
      const double took_s = trace.ops[program.ops.front().last.value].done_s;
      EXPECT_NEAR(took_s,
                  analysis::idle_call_s(platform, wiring, RankId(1), RankId(0), access, handler),
                  1e-9 * took_s)
          << text << ": " << name(access);
    }
  }
}

TEST(AmRules, TheTwinsKeepThem) {
  for (const std::string& spec : testing::structure_specs()) {
    const sched::StructureProgram program = structure_of(spec);
    EXPECT_EQ(program.handlers.empty(), spec.find("via=am") == std::string::npos) << spec;
    EXPECT_TRUE(analysis::check_am_rules(program.schedule, program.handlers).empty()) << spec;
  }
}

// A request of `bytes` from rank 0 to rank 1, and what its handler sends: to rank 0, and to rank 2.
sched::Diagnostics breaches(std::uint64_t bytes, std::uint64_t payload, int replies, int others) {
  sched::ScheduleBuilder b(3);
  const auto channel = [&](std::uint32_t from, std::uint32_t to) {
    sched::Channel c;
    c.src = RankId(from);
    c.dst = RankId(to);
    return b.add_channel(c);
  };
  const auto put = [&](sched::ChannelId c, std::uint32_t from, std::uint32_t to, std::uint64_t size,
                       bool flag) {
    Op op;
    op.kind = OpKind::kPut;
    op.rank = RankId(from);
    op.channel = c;
    op.notify = flag ? sched::Notify::kFlag : sched::Notify::kNone;
    op.reads = b.add_slice({b.add_buffer(RankId(from), size), 0, size});
    op.writes = b.add_slice({b.add_buffer(RankId(to), size), 0, size});
    return b.add(op);
  };
  const std::uint64_t size = bytes + sched::kMarkBytes;
  const sched::OpId request = put(channel(0, 1), 0, 1, size, true);
  Op poll;
  poll.kind = OpKind::kPoll;
  poll.rank = RankId(1);
  poll.reads = b.add_slice({b.add_buffer(RankId(1), 8), 0, 8});
  const sched::OpId first = b.add(poll);
  b.add_flag_match(request, first);
  sched::OpId last = first;
  const sched::ChannelId back = channel(1, 0);
  const sched::ChannelId on = channel(1, 2);
  for (int i = 0; i < replies; ++i) last = put(back, 1, 0, 8, false);
  for (int i = 0; i < others; ++i) last = put(on, 1, 2, 8, false);
  const sched::Schedule schedule = b.build();
  return analysis::check_am_rules(schedule,
                                  std::vector<sched::AmHandler>{{request, first, last, payload}});
}

TEST(AmRules, BreachesAreNamed) {
  EXPECT_TRUE(breaches(64, 0, 1, 0).empty());
  EXPECT_TRUE(breaches(64, 0, 0, 0).empty());
  EXPECT_TRUE(breaches(4096, 4032, 1, 0).empty());
  ASSERT_EQ(breaches(65, 0, 1, 0).size(), 1u);
  EXPECT_THAT(breaches(65, 0, 1, 0)[0].message, HasSubstr("65 B of arguments"));
  ASSERT_EQ(breaches(8, 0, 2, 0).size(), 1u);
  EXPECT_THAT(breaches(8, 0, 2, 0)[0].message, HasSubstr("another reply"));
  ASSERT_EQ(breaches(8, 0, 1, 1).size(), 1u);
  EXPECT_THAT(breaches(8, 0, 1, 1)[0].message, HasSubstr("communicates in a handler"));
  EXPECT_EQ(breaches(100, 0, 3, 2).size(), 5u);
}

}  // namespace
}  // namespace slackline
