// Messages that PCIe holds, worked out by hand on round_platform() (1000 bytes take 1 us on the
// wire, the way 3 us, a post 1 us, and a completion is there 2 us after its event). PCIe has 500
// bytes a microsecond, in transactions of 1000 bytes with 250 beside them.
#include <gtest/gtest.h>

#include <span>

#include "analysis/advice/makespan_floor.h"
#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/longest_path.h"
#include "analysis/engines/stream.h"
#include "analysis/slack/tolerance.h"
#include "sched/compile.h"
#include "tests/unit/analysis/message_case.h"

namespace slackline {
namespace {

using machine::Platform;
using testing::kAny;
using testing::MessageCase;
using testing::Program;
using testing::us;

Platform behind_pcie() {
  Platform platform = testing::round_platform();
  platform.pcie = {machine::Rate{4'000'000'000}, 1'000, 250};
  return platform;
}

void expect_case(const MessageCase& c) {
  testing::expect_seen_by(c, analysis::run_events, analysis::run_analytic, analysis::run_flows);
  const auto fast = analysis::longest_path({c.schedule, c.platform, c.delays, c.policy});
  if (fast) testing::expect_seen(c, *fast);
}

TEST(PcieMessages, TakeTheTimeOfTheirTransactions) {
  Program p(2);
  const auto c = p.channel(0, 1);
  const auto send = p.send(c, 10'000);
  const auto recv = p.recv(c, 10'000);
  // Ten transactions of 1250 bytes: 25 us. Out at 1, through at 26, there at 29, seen at 31. The
  // acknowledgement is back at 32, seen at 34.
  expect_case(
      {"ten transactions", p.build(), behind_pcie(), {{send, 1, 1, 34}, {recv, 1, kAny, 31}}});
}

TEST(PcieMessages, TakeOneTransactionAtLeast) {
  Program p(4);
  const auto small = p.channel(0, 1);
  const auto credit = p.channel(2, 3);
  const auto send = p.send(small, 8);
  const auto recv = p.recv(small, 8);
  const auto grant = p.send(credit, 0);
  const auto notice = p.recv(credit, 0);
  // 258 bytes: 0.516 us. Nothing takes none.
  expect_case({"one transaction",
               p.build(),
               behind_pcie(),
               {{send, 1, 1, 9.516}, {recv, 1, kAny, 6.516}, {grant, 1, 1, 9}, {notice, 1, 4, 6}}});
}

TEST(PcieMessages, HaveEachDirectionForThemselves) {
  Program p(2);
  const auto there = p.channel(0, 1);
  const auto back = p.channel(1, 0);
  const auto first = p.send(there, 10'000);
  const auto first_in = p.recv(back, 10'000);
  const auto second = p.send(back, 10'000);
  const auto second_in = p.recv(there, 10'000);
  expect_case(
      {"both directions",
       p.build(),
       behind_pcie(),
       {{first, 1, 1, 34}, {first_in, 2, 29, 31}, {second, 1, 1, 34}, {second_in, 2, 29, 31}}});
}

TEST(PcieMessages, KeepTheirPortsMeanwhile) {
  Program p(3);
  const auto a = p.channel(0, 1);
  const auto b = p.channel(0, 2);
  const auto first = p.send(a, 10'000);
  const auto second = p.send(b, 10'000);
  p.recv(a, 10'000);
  const auto last = p.recv(b, 10'000);
  const MessageCase c{"one after the other",
                      p.build(),
                      behind_pcie(),
                      {{first, 1, 1, 34}, {second, 2, 26, 59}, {last, 1, 54, 56}}};
  expect_case(c);
  // Both of its messages and what comes before and after them.
  EXPECT_NEAR(analysis::makespan_floor_s({c.schedule, c.platform}), 59e-6, 1e-15);
}

TEST(PcieMessages, TakeTheWiresTimeIfThatIsLonger) {
  Program p(2);
  const auto c = p.channel(0, 1);
  const auto send = p.send(c, 10'000);
  const auto recv = p.recv(c, 10'000);
  Platform platform = behind_pcie();
  platform.pcie.rate = {80'000'000'000};  // 10,000 bytes a microsecond
  expect_case({"a fast link", p.build(), platform, {{send, 1, 1, 19}, {recv, 1, kAny, 16}}});
}

TEST(PcieMessages, AreAnswersToo) {
  Program p(4);
  const auto c = p.channel(0, 1);
  const auto d = p.channel(2, 3);
  const auto get = p.get(c, 1'000);
  const auto add = p.fetch_add(d, 0);
  // Asked for at 4. 1000 bytes take 2.5 us; the 8 of the atomic, served until 9, take 0.516.
  expect_case({"answers", p.build(), behind_pcie(), {{get, 1, 4, 11.5}, {add, 1, 9, 14.516}}});
}

TEST(PcieMessages, AreNoAcknowledgements) {
  Program p(2);
  const auto c = p.channel(0, 1);
  const auto send = p.send(c, 1'000);
  const auto recv = p.recv(c, 1'000);
  Platform platform = behind_pcie();
  platform.ack_bytes = 500;
  // Through at 3.5, there at 6.5. The acknowledgement is on the wire until 7.
  expect_case({"an acknowledgement", p.build(), platform, {{send, 1, 1, 12}, {recv, 1, 6.5, 8.5}}});
}

// The 10 us on the wire may become 25 before they show: 1.5 ns for each byte.
TEST(PcieMessages, HideWhatLinksTakeLonger) {
  const sched::Schedule schedule = testing::two_sends();
  Platform platform = behind_pcie();
  platform.latency = us(1);
  const machine::Setting setting(schedule, platform);
  const sched::Trace trace = analysis::run_analytic(setting);
  const analysis::Parameter bytes{.kind = analysis::Parameter::Kind::kByteTime};
  const analysis::Tolerance found =
      analysis::tolerance(setting, trace, std::span(&bytes, 1)).front();
  EXPECT_NEAR(found.makespan_s, 55e-6, 1e-15);
  EXPECT_EQ(found.slopes().before, 0);
  EXPECT_EQ(found.slopes().after, 0);
  ASSERT_EQ(found.makespan_at.pieces().size(), 2u);
  EXPECT_NEAR(found.makespan_at.pieces()[1].from, 1.5e-9, 1e-18);
  EXPECT_EQ(found.makespan_at.pieces()[1].line.slope, 20'000);
}

TEST(PcieMessages, AreStreamsToo) {
  const sched::Spec spec = sched::parse_spec("chain:ranks=3,bytes=1050KB,block=100KB");
  const Platform platform = behind_pcie();
  const auto streamed = analysis::stream(spec, platform);
  ASSERT_TRUE(streamed.has_value() && streamed->exact);
  const sched::Schedule schedule = compile(spec);
  EXPECT_EQ(streamed->makespan_s, analysis::run_analytic({schedule, platform}).makespan_s());
  Platform without = platform;
  without.pcie = {};
  EXPECT_GT(streamed->makespan_s, 2 * analysis::run_analytic({schedule, without}).makespan_s());
}

}  // namespace
}  // namespace slackline
