// Completions that a service thread sees, worked out by hand on round_platform() (a post takes 1
// us, 1000 bytes take 1 us on the wire, and the way 3 us). The thread takes 2 us for each
// completion, and 4 us pass whenever it or the program gets the core from the other.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "analysis/advice/structure_cost.h"
#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/longest_path.h"
#include "analysis/engines/stream.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "machine/lane_use.h"
#include "machine/run/lanes.h"
#include "machine/wiring.h"
#include "tests/unit/analysis/message_case.h"

namespace slackline {
namespace {

using machine::Platform;
using testing::ChannelId;
using testing::kAny;
using testing::MessageCase;
using testing::OpId;
using testing::Program;
using testing::us;

Platform with_service_thread() {
  Platform platform = testing::round_platform();
  platform.service_thread = true;
  platform.switch_cost = us(4);
  return platform;
}

void expect_case(const MessageCase& c) {
  testing::expect_seen_by(c, analysis::run_events, analysis::run_analytic, analysis::run_flows);
}

TEST(ServiceThread, TakesTheCoreForEachCompletion) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId send = p.send(c, 1'000);
  const OpId recv = p.recv(c, 1'000);
  // There at 5, seen 6 later. The acknowledgement is back at 8, and seen 6 later.
  const sched::Schedule schedule = p.build();
  Platform platform = with_service_thread();
  expect_case({"one message", schedule, platform, {{send, 1, 1, 14}, {recv, 1, 5, 11}}});
  // Where nothing else wants the core, and a switch takes no time, it is as if the program looked.
  platform.switch_cost = {};
  expect_case({"no switch", schedule, platform, {{send, 1, 1, 10}, {recv, 1, 5, 7}}});
  platform.service_thread = false;
  expect_case({"the program", schedule, platform, {{send, 1, 1, 10}, {recv, 1, 5, 7}}});
}

// Three messages, issued at 1, 2 and 3, are there at 5, 6 and 7. Of the sends the last alone makes
// a completion.
TEST(ServiceThread, GoesOnWithTheNextCompletionWithoutASwitch) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const std::array sends{p.send(c, 1'000), p.send(c, 1'000), p.send(c, 1'000)};
  const std::array receives{p.recv(c, 1'000), p.recv(c, 1'000), p.recv(c, 1'000)};
  const sched::Schedule schedule = p.build();
  Platform platform = with_service_thread();
  expect_case({"one by one",
               schedule,
               platform,
               {{receives[0], 1, 5, 11},
                {receives[1], 2, 6, 13},
                {receives[2], 3, 7, 15},
                {sends[0], 1, 1, 10},
                {sends[2], 3, 3, 16}}});
  // The second look, from 11 on, takes two: o_poll once, 2 for each.
  platform.o_poll = us(0.5);
  platform.poll_batch = 8;
  expect_case({"a batch",
               schedule,
               platform,
               {{receives[0], 1, 5, 11.5}, {receives[1], 2, 6, 16}, {receives[2], 3, 7, 16}}});
  // Without switches, too, each waits for the core; looked at by the program they would be there at
  // 7, 8 and 9.
  platform = with_service_thread();
  platform.switch_cost = {};
  expect_case({"no switch",
               schedule,
               platform,
               {{receives[0], 1, 5, 7}, {receives[1], 2, 6, 9}, {receives[2], 3, 7, 11}}});
}

TEST(ServiceThread, WaitsForWhatTheProgramHasBegun) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  p.send(c, 1'000);
  const OpId recv = p.recv(c, 1'000);
  const OpId first = p.calc(1, us(20));
  const OpId second = p.calc(1, us(20));
  // The first calculation has the core until 21. The completion, there since 5, goes before the
  // second: seen at 21 + 4 + 2. The program has the core back 4 later.
  expect_case({"calculations",
               p.build(),
               with_service_thread(),
               {{recv, 1, 5, 27}, {first, 1, kAny, 21}, {second, 27, kAny, 51}}});
}

TEST(ServiceThread, KeepsThePostThatFollows) {
  Program p(3);
  const ChannelId there = p.channel(0, 1);
  const ChannelId on = p.channel(1, 2);
  p.send(there, 1'000);
  const OpId recv = p.recv(there, 1'000);
  const OpId send = p.send(on, 1'000);
  const OpId last = p.recv(on, 1'000);
  p.after({recv}, send);
  const sched::Schedule schedule = p.build();
  const Platform platform = with_service_thread();
  // Seen at 11; 4 later the program posts. There at 20, seen 6 later; back at 23, seen 6 later.
  expect_case(
      {"a relay", schedule, platform, {{recv, 1, 5, 11}, {send, 16, 16, 29}, {last, 1, 20, 26}}});
  std::vector<machine::LaneUse> uses(machine::LaneIndex(schedule).count());
  const machine::Setting setting(schedule, platform);
  analysis::run_events(setting.adding_up(uses));
  // Of rank 1: to the thread, back, and to the thread again.
  EXPECT_NEAR(uses[1].interrupt_s, 12e-6, 1e-15);
  EXPECT_NEAR(uses[1].look_s, 4e-6, 1e-15);
  EXPECT_NEAR(uses[1].post_s, 2e-6, 1e-15);
}

TEST(ServiceThread, SleepsAndIsWoken) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  p.send(c, 1'000);
  const OpId recv = p.recv(c, 1'000);
  Platform platform = with_service_thread();
  platform.poll_for = us(0);
  platform.interrupt_cost = us(10);
  // There at 5; the core has had nothing to do since 1.
  expect_case({"an interrupt", p.build(), platform, {{recv, 1, 5, 21}}});
}

TEST(ServiceThread, IsRefusedByName) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  p.send(c, 1'000);
  p.recv(c, 1'000);
  const sched::Schedule schedule = p.build();
  Platform platform = with_service_thread();
  EXPECT_FALSE(analysis::longest_path({schedule, platform}).has_value());
  const sched::Spec spec = sched::parse_spec("chain:ranks=3,bytes=1MB,block=100KB");
  EXPECT_EQ(analysis::why_not_streamed(spec, platform, {}), "completions take time of the CPU");
  const sched::Trace trace = analysis::run_events({schedule, platform});
  EXPECT_THROW(analysis::timed_slack({schedule, platform}, trace), Unsupported);
  const machine::Wiring wiring(platform, 2);
  EXPECT_THROW(analysis::idle_costs(platform, wiring, sched::RankId(1), sched::RankId(0), us(1), 8),
               Unsupported);
  // Where it has nothing to do there is nothing to refuse.
  platform.switch_cost = {};
  platform.o_complete = {};
  EXPECT_TRUE(analysis::longest_path({schedule, platform}).has_value());
}

}  // namespace
}  // namespace slackline
