// The numbers of a schedule's channels in the transport.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hw/executor/channels.h"
#include "hw/executor/program.h"
#include "sched/program_writer.h"
#include "tests/support/compiled.h"
#include "tests/support/draft.h"

namespace slackline {
namespace {

using hw::ExecutorChannels;
using sched::ChannelId;

using testing::compiled;

TEST(ExecutorChannels, EachHasANumberOfItsOwnBelowTheEnd) {
  const sched::Schedule schedule =
      compiled("call-return:ranks=3,bytes=20,messages=6,aggregation=trad,via=send");
  const ExecutorChannels channels(schedule, 7);
  std::set<std::uint32_t> numbers;
  for (std::uint32_t c = 0; c < schedule.channels().size(); ++c) {
    numbers.insert({channels.of(ChannelId(c)), channels.of_bundles(ChannelId(c)),
                    channels.of_acknowledgements(ChannelId(c))});
  }
  EXPECT_EQ(numbers.size(), 3 * schedule.channels().size());
  EXPECT_EQ(*numbers.begin(), 7u);
  EXPECT_EQ(*numbers.rbegin() + 1, channels.end());
}

TEST(ExecutorChannels, WhatGathersNothingTakesNoMore) {
  const sched::Schedule schedule = compiled("chain:ranks=3,bytes=1000,block=100");
  const ExecutorChannels channels(schedule, 0);
  EXPECT_EQ(channels.end(), schedule.channels().size());
  EXPECT_THROW(channels.of_bundles(ChannelId(0)), InternalError);
}

TEST(ExecutorChannels, SmallAreThoseWhoseMessagesAllAre) {
  for (const auto& [block, small] : {std::pair{"4KiB", true}, std::pair{"4097", false}}) {
    const sched::Schedule schedule =
        compiled(std::string("chain:ranks=3,bytes=20000,block=") + block);
    const std::vector<bool> found = hw::small_channels(schedule);
    ASSERT_EQ(found.size(), schedule.channels().size());
    for (std::uint32_t c = 0; c < found.size(); ++c) {
      const bool credits = schedule.channels()[c].src > schedule.channels()[c].dst;
      EXPECT_EQ(found[c], credits || small) << block << ", channel " << c;
    }
  }
  // What is gathered is sent together.
  const sched::Schedule gathers =
      compiled("call-return:ranks=3,bytes=20,messages=6,aggregation=trad,via=send");
  const std::vector<bool> found = hw::small_channels(gathers);
  for (std::uint32_t c = 0; c < found.size(); ++c) {
    EXPECT_EQ(found[c], gathers.channels()[c].bundle == sched::Bundle::kNone) << c;
  }
}

// So that a transport which connects channels one by one finds the other end of each.
TEST(ExecutorChannels, BothRanksHaveAnEndOfWhatEitherUses) {
  sched::ProgramWriter writer(2);
  writer.connect(sched::RankId(0), sched::RankId(1));  // and never used
  const ChannelId used = writer.connect(sched::RankId(1), sched::RankId(0));
  writer.send({sched::RankId(1)}, used, {});
  writer.receive({sched::RankId(0)}, used, {});
  // A flush of what gathers nothing sends nothing.
  testing::Draft draft;
  draft.ranks = 2;
  for (const sched::Bundle bundle : {sched::Bundle::kNone, sched::Bundle::kTraditional}) {
    const ChannelId channel = draft.channel(0, 1);
    draft.channels.back().bundle = bundle;
    draft.add(sched::OpKind::kFlush, 0, channel);
  }
  // Where a region decides, a receive may stand alone.
  sched::ScheduleBuilder builder(2);
  sched::Channel one_way;
  one_way.src = sched::RankId(0);
  one_way.dst = sched::RankId(1);
  sched::Op receive;
  receive.kind = sched::OpKind::kRecv;
  receive.rank = sched::RankId(1);
  receive.channel = builder.add_channel(one_way);
  sched::Region region;
  region.kind = sched::RegionKind::kAlt;
  region.entry = builder.add(receive);
  region.count = 1;
  builder.add_region(region);
  for (const auto& [schedule, unused] :
       {std::pair{compiled("chain:ranks=3,bytes=1000,block=100"), 0u},
        std::pair{compiled("chain:ranks=3,bytes=1000,block=100,ready=write"), 0u},
        std::pair{writer.build(), 1u}, std::pair{draft.build(), 1u},
        std::pair{builder.build(), 0u}}) {
    std::set<std::pair<std::uint32_t, bool>> ends;
    for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
      const hw::RankProgram program(schedule, sched::RankId(r));
      for (const hw::ChannelEnd& end : program.ends()) {
        const sched::Channel& channel = schedule.channels()[end.channel];
        EXPECT_EQ(end.initiates ? channel.src.value : channel.dst.value, r);
        EXPECT_TRUE(ends.insert({end.channel, end.initiates}).second);
      }
    }
    EXPECT_EQ(ends.size(), 2 * (schedule.channels().size() - unused));
    for (const auto& [channel, initiates] : ends) {
      EXPECT_TRUE(ends.contains({channel, !initiates})) << channel;
    }
  }
}

// So that a transport which counts receives for messages keeps no room for these.
TEST(ExecutorChannels, EndsOnWhichOnlyWritesComeSaySo) {
  sched::ProgramWriter writer(2);
  const ChannelId sent = writer.connect(sched::RankId(0), sched::RankId(1));
  writer.send({sched::RankId(0)}, sent, {});
  writer.receive({sched::RankId(1)}, sent, {});
  const sched::Schedule messages = writer.build();
  const sched::Schedule puts = compiled("chain:ranks=2,bytes=1000,block=100,lower=put,ready=none");
  for (const auto& [schedule, only_writes] :
       {std::pair{&messages, false}, std::pair{&puts, true}}) {
    for (std::uint32_t r = 0; r < 2; ++r) {
      const hw::RankProgram program(*schedule, sched::RankId(r));
      for (const hw::ChannelEnd& end : program.ends()) {
        EXPECT_EQ(end.only_writes, only_writes && !end.initiates) << r << " " << end.channel;
      }
    }
  }
}

TEST(ExecutorChannels, NumbersEndBelow2To32) {
  const sched::Schedule schedule = compiled("chain:ranks=3,bytes=1000,block=100");
  const auto count = static_cast<std::uint32_t>(schedule.channels().size());
  constexpr std::uint32_t kNumbers = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(ExecutorChannels(schedule, kNumbers - count).end(), kNumbers);
  EXPECT_THROW(ExecutorChannels(schedule, kNumbers - count + 1), Unsupported);
  EXPECT_EQ(ExecutorChannels(schedule, kNumbers - count - 5, 5).end(), kNumbers);
  EXPECT_THROW(ExecutorChannels(schedule, kNumbers - count - 4, 5), Unsupported);
}

TEST(ExecutorChannels, OthersHaveNumbersBehindTheSchedules) {
  for (const char* const spec : {"chain:ranks=3,bytes=1000,block=100",
                                 "call:ranks=3,bytes=20,messages=9,aggregation=trad,via=send"}) {
    const sched::Schedule schedule = compiled(spec);
    const std::uint32_t end = ExecutorChannels(schedule, 7).end();
    const ExecutorChannels channels(schedule, 7, 12);
    EXPECT_EQ(channels.of_others(), end) << spec;
    EXPECT_EQ(channels.end(), end + 12) << spec;
  }
}

}  // namespace
}  // namespace slackline
