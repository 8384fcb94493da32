// A run's result goes to another process and comes back whole, and never in part.
#include "offload/packed_run.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "offload/compile_queues.h"
#include "offload/nic_queues.h"
#include "sched/compile.h"

namespace slackline::offload {
namespace {

TEST(PackedRun, ComesBackWholeOrNotAtAll) {
  const sched::Schedule schedule =
      sched::compile(sched::parse_spec("chain:ranks=3,bytes=64,block=16"));
  const MessageGraph graph(schedule);
  QueueOptions options;
  options.readiness = Readiness::kNone;
  const QueueProgram program = compile_queues(schedule, graph, options);
  const MemoryMap memory(program, schedule);
  NicQueues nic(program, schedule, graph, memory);
  // The root sends its first block to a rank that has posted nothing, and nothing else happens.
  nic.start(sched::RankId(0));
  nic.now_s = 0.5;
  QueueId root;
  for (std::uint32_t q = 0; q < program.queues().size(); ++q) {
    const Queue& queue = program.queues()[q];
    if (queue.rank == sched::RankId(0) && queue.kind == QueueKind::kSend && queue.count != 0) {
      root = QueueId(q);
    }
  }
  ASSERT_TRUE(root.valid());
  while (nic.next(root) == NicQueues::Next::kLocal) nic.do_local(root);
  ASSERT_EQ(nic.next(root), NicQueues::Next::kMessage);
  nic.send(root);
  EXPECT_FALSE(nic.arrive(root));
  EXPECT_FALSE(nic.arrive(root));
  EXPECT_EQ(nic.under_way(root), 1u);
  EXPECT_EQ(nic.to_acknowledge(root), 0u);
  nic.start(sched::RankId(1));
  nic.now_s = 0.75;
  EXPECT_TRUE(nic.arrive(root));
  EXPECT_EQ(nic.under_way(root), 0u);
  EXPECT_EQ(nic.to_acknowledge(root), 1u);
  nic.finish();
  EXPECT_EQ(nic.not_ready(), 2u);
  EXPECT_GT(nic.stuck(), 0u);
  EXPECT_EQ(nic.faults().size(), 10u);  // no more are kept

  const std::string bytes = pack(nic);
  const Emulation back = unpack(bytes);
  EXPECT_EQ(back.faults, nic.faults());
  EXPECT_EQ(back.not_ready, nic.not_ready());
  EXPECT_EQ(back.stuck, nic.stuck());
  ASSERT_EQ(back.trace.ops.size(), schedule.op_count());
  for (std::size_t i = 0; i < back.trace.ops.size(); ++i) {
    EXPECT_EQ(back.trace.ops[i].issued_s, nic.times[i].issued_s);
    EXPECT_EQ(back.trace.ops[i].done_s, nic.times[i].done_s);
    EXPECT_EQ(back.trace.ops[i].cause, nic.times[i].cause);
  }
  const Message& first =
      graph.message(graph.of(program.entries(program.queue(root))[nic.head(root) - 1].op));
  EXPECT_EQ(back.trace.ops[first.source.value].issued_s, 0.5);
  EXPECT_EQ(back.trace.ops[first.receive.value].done_s, 0.75);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(unpack(bytes.substr(0, size)), InternalError) << size;
  }
}

}  // namespace
}  // namespace slackline::offload
