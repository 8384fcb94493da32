// Prices of operations on data structures: the paper's, and what a run alone takes; the rules of
// active messages.
#include "analysis/advice/structure_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "base/error.h"
#include "sched/builder.h"
#include "tests/support/am_rules.h"
#include "tests/support/structure_case.h"
#include "tests/unit/analysis/idle_call.h"

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

TEST(StructureCost, OfIdleOperationsKnowsNoAcknowledgementsOnPorts) {
  const machine::Platform platform = machine::parse_platform_spec("star:ack=64");
  const machine::Wiring wiring(platform, 2);
  EXPECT_THROW(analysis::idle_costs(platform, wiring, RankId(0), RankId(1)), Unsupported);
}

// A completion may wake a program that sleeps.
TEST(StructureCost, OfIdleOperationsKnowsNoWakingAndNoSwitches) {
  const auto refused = [](const char* text) {
    const machine::Platform platform = machine::parse_platform_spec(text);
    try {
      analysis::idle_costs(platform, machine::Wiring(platform, 3), RankId(0), RankId(1));
    } catch (const Unsupported&) {
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refused("star:poll_for=1us,interrupt_cost=2us"));
  EXPECT_FALSE(refused("star:poll_for=1us"));
  EXPECT_FALSE(refused("star:o_poll=1us,o_match=1us,o_signal=1us"));
  EXPECT_TRUE(refused("star:switches=switch"));
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
      const sched::Trace trace = analysis::run_events({program.schedule, platform});
      const double took_s = trace.ops[program.ops.front().last.value].done_s;
      EXPECT_NEAR(took_s, row.price_s(costs), 1e-9 * took_s) << text << ": " << spec;
    }
    for (const StructureAccess access : {StructureAccess::kInsert, StructureAccess::kFind,
                                         StructureAccess::kPush, StructureAccess::kPop}) {
      const bool table = access == StructureAccess::kInsert || access == StructureAccess::kFind;
      const sched::StructureProgram program =
          structure_of((table ? "hash-table" : "queue") +
                       (":ranks=2,clients=1,via=am,handler=400ns,op=" + std::string(name(access))));
      const sched::Trace trace = analysis::run_events({program.schedule, platform});
      const double took_s = trace.ops[program.ops.front().last.value].done_s;
      EXPECT_NEAR(took_s,
                  testing::idle_call_s(platform, wiring, RankId(1), RankId(0), access, handler),
                  1e-9 * took_s)
          << text << ": " << name(access);
    }
  }
}

// There the links have 1, 3 and 2 times the slowest rate, back other ones, and the latencies
// differ.
TEST(StructureCost, EachWayHasItsOwnLatencyAndSlowestLink) {
  const machine::Platform platform = machine::parse_platform_spec(
      "star:rate=8Gbps,o_post=300ns,o_complete=200ns,gap=0,interleave=0,atomic_service=250ns,"
      "copy_rate=64Gbps");
  for (const bool slow_there : {false, true}) {
    const std::uint64_t rates[2][3] = {{8'000'000'000, 1'000'000'000, 4'000'000'000},
                                       {8'000'000'000, 500'000'000, 8'000'000'000}};
    std::vector<machine::Link> links;
    std::vector<machine::Wiring::FixedRoute> routes;
    for (std::uint32_t src = 0; src < 2; ++src) {
      machine::Route route;
      for (const std::uint64_t rate : rates[slow_there ? src : 1 - src]) {
        route.links.emplace_back(static_cast<std::uint32_t>(links.size()));
        links.push_back({std::to_string(links.size()), {rate}});
      }
      route.latency = sched::Time{src == 0 ? 5'000'000 : 700'000};
      routes.push_back({RankId(src), RankId(1 - src), route});
    }
    const machine::Wiring wiring({"a", "b"}, links, routes);
    // From rank 1 to rank 0: 700 ns, and 5 us back.
    const double there_s = slow_there ? 8 / 62.5e6 : 8 / 125e6;
    const double back_s = slow_there ? 8 / 125e6 : 8 / 62.5e6;
    const analysis::ComponentCosts costs =
        analysis::idle_costs(platform, wiring, RankId(1), RankId(0));
    const double both_s = 300e-9 + 700e-9 + 5e-6 + 200e-9;
    EXPECT_NEAR(costs.put_s, both_s + there_s, 1e-15);
    EXPECT_NEAR(costs.get_s, both_s + back_s, 1e-15);
    EXPECT_NEAR(costs.swap_s, both_s + back_s + 250e-9, 1e-15);
    EXPECT_EQ(costs.fetch_s, costs.swap_s);
    EXPECT_EQ(costs.persistent_s, costs.swap_s);
    EXPECT_EQ(costs.single_fetch_s, costs.swap_s);
    EXPECT_NEAR(costs.local_s, 1e-9, 1e-18);
    for (const auto& [access, asked, told, copies] :
         {std::tuple(StructureAccess::kInsert, 16, 0, 2),
          std::tuple(StructureAccess::kFind, 16, 8, 1),
          std::tuple(StructureAccess::kPush, 16, 0, 2),
          std::tuple(StructureAccess::kPop, 8, 8, 1)}) {
      const auto mark = static_cast<double>(sched::kMarkBytes);
      EXPECT_NEAR(
          testing::idle_call_s(platform, wiring, RankId(1), RankId(0), access, sched::Time{90'000}),
          300e-9 + 200e-9 + both_s + (mark + asked) / 8 * there_s + (mark + told) / 8 * back_s +
              90e-9 + copies * 1e-9,
          1e-15)
          << name(access);
    }
  }
}

TEST(AmRules, TheTwinsKeepThem) {
  for (const std::string& spec : testing::structure_specs()) {
    const sched::StructureProgram program = structure_of(spec);
    EXPECT_EQ(program.handlers.empty(), spec.find("via=am") == std::string::npos) << spec;
    EXPECT_TRUE(testing::check_am_rules(program.schedule, program.handlers).empty()) << spec;
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
  return testing::check_am_rules(schedule,
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
