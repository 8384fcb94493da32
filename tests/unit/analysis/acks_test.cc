// Acknowledgements that use the ports, worked out by hand on round_platform() (1000 bytes take 1 us
// on the wire, the way 3 us, a post 1 us, and a completion is there 2 us after its event).
#include <gtest/gtest.h>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/longest_path.h"
#include "analysis/engines/stream.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "tests/unit/analysis/message_case.h"

namespace slackline {
namespace {

using machine::Platform;
using testing::MessageCase;
using testing::Program;
using testing::us;

// Half a microsecond on the wire.
Platform acknowledging() {
  Platform platform = testing::round_platform();
  platform.ack_bytes = 500;
  return platform;
}

void expect_case(const MessageCase& c) {
  testing::expect_seen_by(c, analysis::run_events, analysis::run_analytic);
}

TEST(Acks, TakeTheTimeOfTheirBytes) {
  Program p(2);
  const auto c = p.channel(0, 1);
  const auto send = p.send(c, 1'000);
  const auto put = p.put(c, 1'000);
  const auto get = p.get(c, 1'000);
  const auto recv = p.recv(c, 1'000);
  // Landed at 5 and at 6, acknowledged on the wire until 5.5 and 6.5. The get is asked for at 3, at
  // the target at 6; its answer is large enough to wait for the second acknowledgement.
  expect_case({"acks",
               p.build(),
               acknowledging(),
               {{send, 1, 1, 10.5}, {recv, 1, 5, 7}, {put, 2, 2, 11.5}, {get, 3, 6.5, 12.5}}});
}

TEST(Acks, WaitForWhatTheReceiverSends) {
  Program p(2);
  const auto there = p.channel(0, 1);
  const auto back = p.channel(1, 0);
  const auto send = p.send(there, 1'000);
  const auto other = p.recv(back, 4'000);
  const auto recv = p.recv(there, 1'000);
  const auto wait = p.delay(1, us(3));
  const auto reply = p.send(back, 4'000);
  p.after({wait}, reply);
  // On the wire from 4 to 8. What landed at 5 is acknowledged from 8 to 8.5.
  expect_case({"a busy port",
               p.build(),
               acknowledging(),
               {{send, 1, 1, 13.5}, {recv, 1, 5, 7}, {reply, 4, 4, 16.5}, {other, 2, 11, 13}}});
}

TEST(Acks, KeepTheGap) {
  Program p(3);
  const auto a = p.channel(0, 2);
  const auto b = p.channel(1, 2);
  const auto first = p.put(a, 1'000);
  const auto second = p.put(b, 2'000);
  Platform platform = acknowledging();
  platform.gap = us(4);
  // The second has the in-port from 2 to 4, and is there at 7. The first, there at 5, is
  // acknowledged from then on; the NIC sends nothing else before 9.
  expect_case({"a gap", p.build(), platform, {{first, 1, 1, 10.5}, {second, 1, 2, 14.5}}});
}

TEST(Acks, OfDatagramsAreNone) {
  Program p(2);
  const auto c = p.channel(0, 1, sched::Service::kDatagram);
  const auto send = p.send(c, 1'000);
  p.recv(c, 1'000);
  expect_case({"a datagram", p.build(), acknowledging(), {{send, 1, 1, 4}}});
}

TEST(Acks, AreRefusedByName) {
  Program p(2);
  const auto c = p.channel(0, 1);
  p.send(c, 1'000);
  p.recv(c, 1'000);
  const sched::Schedule schedule = p.build();
  const Platform platform = acknowledging();
  EXPECT_FALSE(analysis::longest_path({schedule, platform}).has_value());
  const sched::Spec spec = sched::parse_spec("chain:ranks=3,bytes=1MB,block=100KB");
  EXPECT_EQ(analysis::why_not_streamed(spec, platform, {}), "acknowledgements use the ports");
  const sched::Trace trace = analysis::run_events({schedule, platform});
  EXPECT_THROW(analysis::timed_slack({schedule, platform}, trace), Unsupported);
  Program gathers(2);
  const auto g = gathers.channel(0, 1);
  gathers.builder().channel(g).bundle = sched::Bundle::kTraditional;
  gathers.put(g, 500);
  gathers.flush(g);
  EXPECT_THROW(analysis::run_events({gathers.build(), platform}), Unsupported);
}

}  // namespace
}  // namespace slackline
