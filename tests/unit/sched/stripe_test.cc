// Messages in stripes: what becomes of each, and that what was proved stays proved.
#include "sched/pass/stripe.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "sched/compile.h"
#include "sched/pattern/pattern.h"
#include "sched/verify.h"

namespace slackline::sched {
namespace {

Schedule schedule_of(const std::string& spec) { return compile(parse_spec(spec)); }

TEST(Stripe, CutsAMessageIntoPartsOnChannelsOfTheirOwn) {
  const Schedule whole = schedule_of("chain:ranks=2,bytes=10,block=10,ready=none,start=all");
  ASSERT_EQ(whole.op_count(), 2u);
  const Schedule parts = stripe(whole, 3);
  ASSERT_EQ(parts.channels().size(), 3u);
  ASSERT_EQ(parts.op_count(), 6u);  // nothing waits: no join
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> bytes;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Op& send = parts.ops()[i];
    const Op& receive = parts.op(send.match);
    EXPECT_EQ(send.channel, ChannelId(i));
    EXPECT_EQ(receive.channel, ChannelId(i));
    const Slice& from = parts.slices(send.reads).front();
    const Slice& to = parts.slices(receive.writes).front();
    EXPECT_EQ(from.offset, to.offset);
    EXPECT_EQ(from.bytes, to.bytes);
    offsets.push_back(from.offset);
    bytes.push_back(from.bytes);
  }
  EXPECT_EQ(offsets, (std::vector<std::uint64_t>{0, 3, 6}));
  EXPECT_EQ(bytes, (std::vector<std::uint64_t>{3, 3, 4}));
  EXPECT_EQ(stripe(whole, 1).digest(), whole.digest());
  EXPECT_THROW(stripe(whole, 0), InputError);
  EXPECT_THROW(stripe(whole, kMostStripes + 1), InputError);
}

TEST(Stripe, WhatWaitedForAMessageWaitsForAllParts) {
  const Schedule parts = schedule_of("chain:ranks=3,bytes=100,block=100,ready=none,stripes=4");
  // Rank 1 passes on what it has received: every part of its send behind the join of its receives.
  std::uint32_t joins = 0;
  for (std::uint32_t i = 0; i < parts.op_count(); ++i) {
    const Op& op = parts.ops()[i];
    if (op.kind == OpKind::kJoin) {
      EXPECT_EQ(parts.edges_into(OpId(i)).size(), 4u);
      ++joins;
    }
    if (op.kind != OpKind::kSend || op.rank != RankId(1)) continue;
    ASSERT_EQ(parts.edges_into(OpId(i)).size(), 1u);
    EXPECT_EQ(parts.op(parts.edges_into(OpId(i)).front().pred).kind, OpKind::kJoin);
  }
  EXPECT_EQ(joins, 1u);
}

// One credit stands for all parts, and channels of credits stay one.
TEST(Stripe, LeavesCreditsWhole) {
  for (const std::string ready : {"send", "write"}) {
    const std::string spec = "chain:ranks=2,bytes=300,block=100,ready=" + ready;
    const Schedule whole = schedule_of(spec);
    const Schedule parts = schedule_of(spec + ",stripes=2");
    ASSERT_EQ(whole.channels().size(), 2u);
    ASSERT_EQ(parts.channels().size(), 3u);
    EXPECT_EQ(parts.channels()[0].credit_on, ChannelId(2));
    EXPECT_EQ(parts.channels()[1].credit_on, ChannelId(2));
    EXPECT_EQ(parts.channels()[1].window, 1u);
    const auto on_credits = [](const Schedule& schedule, ChannelId channel) {
      std::uint32_t count = 0;
      for (const Op& op : schedule.ops()) count += op.channel == channel ? 1 : 0;
      return count;
    };
    EXPECT_EQ(on_credits(parts, ChannelId(2)), on_credits(whole, ChannelId(1)));
  }
}

// Every pattern that has the option, with every way to be ready, is proved as it was.
TEST(Stripe, KeepsWhatIsProved) {
  int proved = 0;
  for (const PatternEntry& pattern : patterns()) {
    if (pattern.find_option("stripes") == nullptr) continue;
    for (const char* options :
         {"ready=send,window=1", "ready=write,window=2", "ready=none", "ready=send,window=3"}) {
      for (const std::uint32_t ranks : {2u, 5u, 8u}) {
        const bool of_pieces = pattern.find_option("sizes") != nullptr;
        std::string spec = std::string(pattern.name) + ":ranks=" + std::to_string(ranks) +
                           (of_pieces ? ",sizes=5000" : ",bytes=5000") + ",block=700," + options;
        if (pattern.find_option("start") != nullptr && proved % 2 == 0) spec += ",start=all";
        if (pattern.find_option("lower") != nullptr && proved % 3 == 0) spec += ",lower=put";
        for (const char* stripes : {"2", "3", "8"}) {
          const Spec striped = parse_spec(spec + ",stripes=" + stripes);
          EXPECT_EQ(parse_spec(format_spec(striped)).stripes, striped.stripes);
          const Schedule schedule = compile(striped);
          EXPECT_LE(schedule.op_count(), most_ops(striped)) << spec;
          const Diagnostics found = verify(schedule);
          ASSERT_TRUE(found.empty())
              << spec << ",stripes=" << stripes << ": " << found.front().message;
          ++proved;
        }
      }
    }
  }
  EXPECT_GT(proved, 400);
}

// Blocks with fewer bytes than stripes, none among them.
TEST(Stripe, PartsMayBeEmpty) {
  for (const char* bytes : {"0", "1", "9"}) {
    const Schedule schedule =
        schedule_of(std::string("binomial-pipeline:ranks=6,bytes=") + bytes + ",block=4,stripes=8");
    const Diagnostics found = verify(schedule);
    ASSERT_TRUE(found.empty()) << bytes << ": " << found.front().message;
  }
}

TEST(Stripe, RefusesWhatIsDecidedWhileItRuns) {
  EXPECT_THROW(stripe(schedule_of("hash-table:ranks=2"), 2), Unsupported);
}

}  // namespace
}  // namespace slackline::sched
