#include "experiments/overlap.h"

#include <gtest/gtest.h>

#include "analysis/engines/analytic.h"

namespace slackline::experiments {
namespace {

TEST(ScheduleStore, CompilesEachSpecOnce) {
  ScheduleStore store;
  const sched::Schedule* first = store.get({"chain", 3, kMiB, kMiB, ""});
  EXPECT_EQ(first, store.get({"chain", 3, kMiB, kMiB, ""}));
  EXPECT_NE(first, store.get({"chain", 4, kMiB, kMiB, ""}));
  EXPECT_EQ(first->rank_count(), 3u);
}

// In block times of the bare machine.
struct Ends {
  std::vector<double> delivered;
  std::vector<double> sent;
  std::vector<Receipt> receipts;
};
Ends ends_of(const sched::Composition& whole) {
  const machine::Platform bare = bare_machine();
  const sched::Trace trace = analysis::run_analytic({whole.schedule, bare});
  Ends ends{parts_delivered_s(whole, trace), parts_sent_s(whole, trace), receipts(whole, trace)};
  for (double& at : ends.delivered) at /= block_time_s(bare);
  for (double& at : ends.sent) at /= block_time_s(bare);
  for (Receipt& receipt : ends.receipts) receipt.at_s /= block_time_s(bare);
  return ends;
}

TEST(SameMembers, OneSendersMessagesFollowEachOther) {
  // A chain of 3, 2 blocks: 3 block times, of which the root has 2 to send.
  ScheduleStore store;
  const Ends ends = ends_of(same_members(store, {"chain", 3, 2 * kMiB, kMiB, ""}, 1, 2));
  ASSERT_EQ(ends.delivered.size(), 2u);
  EXPECT_NEAR(ends.sent[0], 2, 1e-9);
  EXPECT_NEAR(ends.delivered[0], 3, 1e-9);
  // Rank 1 takes the second message's first block once it has passed on the first message.
  EXPECT_NEAR(ends.delivered[1], 6, 1e-9);
  ASSERT_EQ(ends.receipts.size(), 4u);
  EXPECT_EQ(ends.receipts[1].part, 0u);
  EXPECT_EQ(ends.receipts[1].rank, sched::RankId(2));
  EXPECT_NEAR(ends.receipts[0].at_s, 2, 1e-9);
  EXPECT_NEAR(ends.receipts[1].at_s, 3, 1e-9);
}

TEST(SameMembers, EachSenderIsItsGroupsRoot) {
  // Two ranks that send to each other: ports are full duplex.
  ScheduleStore store;
  const Ends ends = ends_of(same_members(store, {"chain", 2, 4 * kMiB, kMiB, ""}, 2, 1));
  ASSERT_EQ(ends.receipts.size(), 2u);
  EXPECT_EQ(ends.receipts[0].rank, sched::RankId(1));
  EXPECT_EQ(ends.receipts[1].rank, sched::RankId(0));
  for (const double at : ends.delivered) EXPECT_NEAR(at, 4, 1e-9);
}

}  // namespace
}  // namespace slackline::experiments
