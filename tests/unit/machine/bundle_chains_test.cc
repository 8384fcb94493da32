// Which messages a bundle is made of, over several bundles of the same operations.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "machine/run/gathered_messages.h"
#include "sched/text.h"

namespace slackline::machine {
namespace {

using sched::ChannelId;
using sched::OpId;

const OpId kNobody = OpId::none();

// Three puts and a flush on a channel that holds back what goes beyond its window of one message.
sched::Schedule three_puts(const std::string& bundle) {
  return sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 64\nbuffer 1 rank 1 bytes 64\n"
      "channel 0 from 0 to 1 " +
      bundle +
      "\nrank 0\n"
      "0 put on 0 reads 0[0+8] writes 1[0+8]\n"
      "1 put on 0 reads 0[8+16] writes 1[8+16]\n"
      "2 put on 0 reads 0[24+32] writes 1[24+32]\n"
      "3 flush on 0\n");
}

const char* const kOverflow = "window 1 bundle ovfl bundle_bytes 24 bundle_delay 2us";

TEST(BundleChains, AMessageAloneLeavesTheBundleItWasIn) {
  const sched::Schedule schedule = three_puts(kOverflow);
  GatheredMessages bundles(schedule);
  bundles.add(OpId(0), 0);
  bundles.add(OpId(1), 0);
  bundles.under_way(bundles.take(ChannelId(0), GatheredMessages::kNone));
  EXPECT_EQ(bundles.bytes(OpId(0)), 24u);
  EXPECT_EQ(bundles.next(OpId(0)), OpId(1));
  EXPECT_FALSE(bundles.stands_for_all(OpId(1)));
  bundles.done(OpId(0));
  EXPECT_FALSE(bundles.rule(ChannelId(0)).is_free_to_leave());  // the other is not done
  bundles.done(OpId(1));
  EXPECT_TRUE(bundles.rule(ChannelId(0)).is_free_to_leave());
  for (const std::uint32_t op : {0, 1}) {  // they run again
    bundles.alone(OpId(op));
    EXPECT_EQ(bundles.next(OpId(op)), kNobody);
    EXPECT_EQ(bundles.bytes(OpId(op)), op == 0 ? 8u : 16u);
    EXPECT_TRUE(bundles.stands_for_all(OpId(op)));
    EXPECT_FALSE(bundles.rule(ChannelId(0)).is_free_to_leave());
    bundles.done(OpId(op));
    EXPECT_TRUE(bundles.rule(ChannelId(0)).is_free_to_leave());
  }
}

TEST(BundleChains, ABundleEndsWithItsNewestMessage) {
  const sched::Schedule schedule = three_puts(kOverflow);
  GatheredMessages bundles(schedule);
  for (const std::uint32_t op : {0, 1, 2}) bundles.add(OpId(op), 0);
  bundles.under_way(bundles.take(ChannelId(0), 5));
  EXPECT_EQ(bundles.next(OpId(1)), OpId(2));
  EXPECT_EQ(bundles.held_lane(OpId(0)), 5u);
  for (const std::uint32_t op : {0, 1, 2}) bundles.done(OpId(op));
  // The second time they are gathered the other way round.
  for (const std::uint32_t op : {2, 1}) bundles.add(OpId(op), 0);
  EXPECT_EQ(bundles.take(ChannelId(0), GatheredMessages::kNone), OpId(2));
  EXPECT_EQ(bundles.next(OpId(2)), OpId(1));
  EXPECT_EQ(bundles.next(OpId(1)), kNobody);
  EXPECT_EQ(bundles.bytes(OpId(2)), 48u);
  EXPECT_EQ(bundles.held_lane(OpId(2)), GatheredMessages::kNone);
  EXPECT_EQ(bundles.take(ChannelId(0), GatheredMessages::kNone), kNobody);
}

TEST(BundleChains, ItIsDueAfterItsOldestMessage) {
  const sched::Schedule schedule = three_puts(kOverflow);
  GatheredMessages bundles(schedule);
  bundles.add(OpId(0), 1e-3);
  EXPECT_DOUBLE_EQ(bundles.rule(ChannelId(0)).due_s(), 1e-3 + 2e-6);
  EXPECT_FALSE(bundles.rule(ChannelId(0)).is_full());
  bundles.add(OpId(1), 2e-3);
  EXPECT_DOUBLE_EQ(bundles.rule(ChannelId(0)).due_s(), 1e-3 + 2e-6);
  EXPECT_TRUE(bundles.rule(ChannelId(0)).is_full());
  const std::uint32_t serial = bundles.open(ChannelId(0)).serial;
  bundles.take(ChannelId(0), GatheredMessages::kNone);
  EXPECT_FALSE(bundles.open(ChannelId(0)).oldest.valid());
  EXPECT_FALSE(bundles.rule(ChannelId(0)).is_full());
  bundles.add(OpId(2), 0);
  EXPECT_EQ(bundles.open(ChannelId(0)).serial, serial + 1);

  const sched::Schedule patient = three_puts("window 1 bundle ovfl bundle_bytes 24");
  GatheredMessages waiting(patient);
  waiting.add(OpId(0), 1e-3);
  EXPECT_EQ(waiting.rule(ChannelId(0)).due_s(), std::numeric_limits<double>::infinity());
}

TEST(BundleChains, WhoIsGathered) {
  const sched::Schedule overflow = three_puts(kOverflow);
  GatheredMessages bundles(overflow);
  EXPECT_FALSE(bundles.decide(OpId(0)));
  EXPECT_FALSE(bundles.is_gathered(OpId(0)));
  bundles.alone(OpId(0));
  EXPECT_TRUE(bundles.decide(OpId(1)));
  EXPECT_TRUE(bundles.is_gathered(OpId(1)));
  EXPECT_FALSE(bundles.decide(OpId(3)));  // a flush never is
  bundles.add(OpId(1), 0);
  bundles.done(OpId(0));
  EXPECT_TRUE(bundles.decide(OpId(2)));  // there is room, but somebody waits before it
  bundles.take(ChannelId(0), GatheredMessages::kNone);
  EXPECT_FALSE(bundles.decide(OpId(2)));
  EXPECT_TRUE(bundles.counts(overflow.op(OpId(0))));
  EXPECT_FALSE(bundles.counts(overflow.op(OpId(3))));
  EXPECT_TRUE(bundles.concern(overflow.op(OpId(3))));

  const sched::Schedule traditional = three_puts("bundle trad bundle_bytes 24");
  GatheredMessages every(traditional);
  EXPECT_TRUE(every.decide(OpId(0)));
  EXPECT_FALSE(every.decide(OpId(3)));
  EXPECT_FALSE(every.counts(traditional.op(OpId(0))));
  EXPECT_FALSE(every.rule(ChannelId(0)).is_free_to_leave());

  const sched::Schedule unbounded = three_puts("bundle ovfl bundle_bytes 24");
  GatheredMessages never(unbounded);
  never.alone(OpId(0));
  never.alone(OpId(1));
  EXPECT_FALSE(never.decide(OpId(2)));
  EXPECT_FALSE(GatheredMessages(three_puts("window 1")).any());
  EXPECT_TRUE(never.any());
}

}  // namespace
}  // namespace slackline::machine
