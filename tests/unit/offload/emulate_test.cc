// What a run of queues in the abstract clock leaves behind: where bytes went, when, and why.
#include "offload/emulate.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "offload/compile_queues.h"
#include "offload/message_graph.h"
#include "sched/text.h"

namespace slackline::offload {
namespace {

using sched::OpId;
using sched::Schedule;

// Rank 0 sends 24 bytes to rank 1 in two messages that rank 1 relays to rank 2 as `relayed`, so
// that the relay's cuts differ from those of what it relays.
Schedule relay(const std::string& relayed) {
  return sched::read_text(
      "slackline schedule 1\nranks 3\nmessage 24\nbuffer 0 rank 0 bytes 24\n"
      "buffer 1 rank 1 bytes 24\nbuffer 2 rank 2 bytes 24\nchannel 0 from 0 to 1\n"
      "channel 1 from 1 to 2\nrank 0\n  0 send on 0 reads 0[0+10]\n"
      "  1 send on 0 reads 0[10+14] after done:0\nrank 1\n  2 recv on 0 writes 1[0+10]\n"
      "  3 recv on 0 writes 1[10+14]\n  4 send step 1 on 1 reads 1[3+15] after done:2 done:3\n"
      "rank 2\n  5 recv step 1 on 1 writes 2[0+15]\npre 0[0+24] value 0\n" +
          relayed,
      "relay");
}

Emulation run(const Schedule& schedule) {
  const MessageGraph graph(schedule);
  const QueueProgram program = compile_queues(schedule, {});
  return Emulator(program, schedule, graph).run(Timing::kRandom, 1);
}

// A relay that cuts elsewhere moves the same bytes, over any number of hops.
TEST(Emulate, BytesAreFollowedThroughOtherCuts) {
  EXPECT_EQ(run(relay("post 2[0+15] value 0 at 3\n")).faults, std::vector<std::string>());
  EXPECT_EQ(run(relay("post 2[1+13] value 0 at 4\n")).faults, std::vector<std::string>());
  EXPECT_FALSE(run(relay("post 2[0+15] value 0 at 2\n")).sound());
  EXPECT_FALSE(run(relay("post 2[14+2] value 0 at 17\n")).sound());
}

TEST(Emulate, AReceiveIsCausedByItsMessage) {
  const Emulation done = run(relay("post 2[0+15] value 0 at 3\n"));
  EXPECT_EQ(done.trace.ops[2].cause, OpId(0));
  EXPECT_EQ(done.trace.ops[3].cause, OpId(1));
  EXPECT_EQ(done.trace.ops[5].cause, OpId(4));
  EXPECT_EQ(done.stuck, 0u);
}

// What the queues do without is there with the last of what it waits for, which is its cause.
TEST(Emulate, FillsInJoins) {
  const Schedule schedule = sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 24\nbuffer 1 rank 1 bytes 24\n"
      "channel 0 from 0 to 1\nchannel 1 from 0 to 1\nrank 0\n  0 send on 0 reads 0[0+10]\n"
      "  1 send on 1 reads 0[10+14]\nrank 1\n  2 recv on 0 writes 1[0+10]\n"
      "  3 recv on 1 writes 1[10+14]\n  4 join after done:2 done:3\n"
      "  5 join after done:3 done:2\n  6 join after issued:2 issued:3\n"
      "  7 join after done:4 issued:3\n  8 join\n",
      "joins");
  const MessageGraph graph(schedule);
  sched::Trace trace;
  trace.ops.resize(schedule.op_count());
  trace.ops[2] = {0, 1, 1, 5, 1, OpId::none()};
  trace.ops[3] = {0, 2, 2, 3, 1, OpId::none()};
  fill_in(schedule, graph, trace);
  const auto expect = [&](std::uint32_t op, double time_s, OpId cause) {
    const sched::OpTimes& t = trace.ops[op];
    EXPECT_EQ(std::tuple(t.ready_s, t.issued_s, t.wire_s, t.done_s, t.cause),
              std::tuple(time_s, time_s, time_s, time_s, cause))
        << op;
  };
  expect(4, 5, OpId(2));
  expect(5, 5, OpId(2));
  expect(6, 2, OpId(3));
  expect(7, 5, OpId(4));
  expect(8, 0, OpId::none());
  EXPECT_EQ(trace.ops[3].done_s, 3);  // messages have their times already
}

}  // namespace
}  // namespace slackline::offload
