// The numbers of a schedule's channels in the transport.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>

#include "hw/executor/channels.h"
#include "sched/compile.h"
#include "sched/error.h"
#include "tests/support/compiled.h"

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

TEST(ExecutorChannels, NumbersEndBelow2To32) {
  const sched::Schedule schedule = compiled("chain:ranks=3,bytes=1000,block=100");
  const auto count = static_cast<std::uint32_t>(schedule.channels().size());
  constexpr std::uint32_t kNumbers = std::numeric_limits<std::uint32_t>::max();
  EXPECT_EQ(ExecutorChannels(schedule, kNumbers - count).end(), kNumbers);
  EXPECT_THROW(ExecutorChannels(schedule, kNumbers - count + 1), Unsupported);
}

}  // namespace
}  // namespace slackline
