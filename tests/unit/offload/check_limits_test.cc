// What a NIC's counters and queues hold, to the last one, and what is said where they do not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "offload/check_queues.h"
#include "offload/message_graph.h"
#include "offload/queue_findings.h"
#include "offload/queue_program.h"
#include "sched/compile.h"

namespace slackline::offload {
namespace {

using sched::RankId;
using sched::Schedule;

// Rank 0's only queue, a managing one.
struct Waiting {
  std::uint32_t entries = 2;   // the last waits
  std::uint64_t start = 7;     // of its completion queue, which gets…
  std::uint32_t signaled = 1;  // …that many completions
  std::uint64_t count = 8;     // that the wait is for
};

QueueDiagnostics found_in(const Waiting& given, const NicLimits& limits) {
  const Schedule schedule = sched::compile(sched::parse_spec("chain:ranks=1,bytes=0"));
  const MessageGraph graph(schedule);
  QueueProgramBuilder b(1);
  b.set_schedule(schedule.digest());
  CompletionQueue cq;
  cq.rank = RankId(0);
  cq.start = given.start;
  Queue queue;
  queue.rank = cq.rank;
  queue.kind = QueueKind::kManagement;
  queue.purpose = Purpose::kOrder;
  queue.cq = b.add_cq(cq);
  const QueueId id = b.add_queue(queue);
  for (std::uint32_t e = 0; e + 1 < given.entries; ++e) {
    Entry nop;
    nop.signaled = e < given.signaled;
    b.add(id, nop);
  }
  Entry wait;
  wait.kind = EntryKind::kWait;
  wait.target = queue.cq.value;
  wait.count = given.count;
  b.add(id, wait);
  const QueueProgram program = b.build();
  QueueFindings unfit(1);  // the program has none of the schedule's operations
  const ProgramIndex index(program, schedule, graph, unfit);
  QueueFindings findings(9);
  check_limits(index, limits, findings);
  return findings.take();
}

NicLimits deep() {
  NicLimits limits;
  limits.queue_depth = 1u << 16;
  return limits;
}

// What 16-bit indices and 24-bit counts can tell apart, to the last one.
TEST(QueueLimits, CountersHoldTheirMostAndNoMore) {
  const auto codes = [&](const Waiting& given) {
    std::string all;
    for (const auto& found : found_in(given, deep())) all += fmt::format("{} ", name(found.code));
    return all;
  };
  constexpr auto kMost = static_cast<std::uint32_t>(kMaxQueueAhead);
  EXPECT_EQ(codes({2, 7, 1, 8}), "");
  EXPECT_EQ(codes({kMost, 7, 1, 8}), "");
  EXPECT_EQ(codes({kMost + 1, 7, 1, 8}), "counter ");
  // A wait for what was there before, and for one more than there will be.
  EXPECT_EQ(codes({2, 7, 1, 7}), "count ");
  EXPECT_EQ(codes({2, 7, 1, 9}), "count ");
  EXPECT_EQ(codes({3, 7, 2, 9}), "");
  EXPECT_EQ(codes({2, 7, 1, 7 + kMaxCqAhead}), "count ");
  EXPECT_EQ(codes({2, 7, 1, 8 + kMaxCqAhead}), "count counter ");
}

TEST(QueueLimits, SayWhereAndByHowMuchTheyAreExceeded) {
  const auto said = [](const Waiting& given, const NicLimits& limits) {
    std::vector<std::string> all;
    for (const auto& found : found_in(given, limits)) all.push_back(found.message);
    return all;
  };
  using Said = std::vector<std::string>;
  const std::string queue = "queue 0 (order management, rank 0)";
  NicLimits shallow;
  shallow.queue_depth = 3;
  EXPECT_EQ(said({3, 7, 1, 8}, shallow), Said{});
  EXPECT_EQ(said({4, 7, 1, 8}, shallow), Said{queue + " has 4 entries; the NIC's queues hold 3"});
  EXPECT_EQ(said({40'000, 7, 1, 8}, deep()),
            Said{fmt::format("{} has 40000 entries; 16-bit indices tell apart {} ahead", queue,
                             kMaxQueueAhead)});
  EXPECT_EQ(said({2, 7, 1, 9}, deep()),
            Said{"entry 1 (wait) of " + queue +
                 " waits for 9 completions of completion queue 0, which goes from 7 to 8"});
  EXPECT_EQ(said({2, 7, 1, 17 + kMaxCqAhead}, deep()).back(),
            fmt::format("entry 1 (wait) of {} waits for {} completions ahead; 24-bit counts tell "
                        "apart {}",
                        queue, 10 + kMaxCqAhead, kMaxCqAhead));
  NicLimits no_overrun = deep();
  no_overrun.ignore_overrun = false;
  no_overrun.cq_depth = 2;
  EXPECT_EQ(said({4, 7, 2, 8}, no_overrun), Said{});
  EXPECT_EQ(
      said({4, 7, 3, 8}, no_overrun),
      Said{"completion queue 0 gets 3 completions, which nobody reads; it holds 2 and the NIC "
           "cannot let it run over"});
  no_overrun.ignore_overrun = true;
  EXPECT_EQ(said({4, 7, 3, 8}, no_overrun), Said{});
  NicLimits apart = deep();
  apart.cross_channel = false;
  EXPECT_EQ(said({2, 7, 1, 8}, apart),
            Said{"the program waits and enables; the NIC has no cross-channel queues"});
}

}  // namespace
}  // namespace slackline::offload
