// What a schedule may count: sums of bytes stay within 64 bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "sched/builder.h"
#include "tests/unit/sched/builder_case.h"

namespace slackline::sched {
namespace {

using ::testing::HasSubstr;

TEST(Builder, RefusesBytesThatNoSumHolds) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 62;
  // A put of so many pieces of 2^62 bytes, so often.
  const auto puts = [](std::uint32_t reads, std::uint32_t writes, int times) {
    ScheduleBuilder builder(2);
    builder.add_buffer(RankId(0), 2 * kHalf - 1);
    builder.add_buffer(RankId(1), 2 * kHalf - 1);
    const ChannelId channel = builder.add_channel(joining(0, 1));
    for (int i = 0; i < times; ++i) {
      Op put = op_of(OpKind::kPut, 0, channel);
      put.reads = builder.add_slices(std::vector<Slice>(reads, {BufferId(0), 0, kHalf}));
      put.writes = builder.add_slices(std::vector<Slice>(writes, {BufferId(1), 0, kHalf}));
      builder.add(put);
    }
    return refusal(builder);
  };
  EXPECT_EQ(puts(1, 1, 1), "");
  EXPECT_EQ(puts(2, 1, 1), "op 0 (put) names 2^63 bytes or more; expected less");
  EXPECT_EQ(puts(1, 2, 1), "op 0 (put) names 2^63 bytes or more; expected less");
  // 2^64 and 2^62 more: equal to one piece, modulo 2^64.
  EXPECT_EQ(puts(1, 5, 1), "op 0 (put) names 2^63 bytes or more; expected less");
  EXPECT_EQ(puts(1, 1, 2), "the messages carry 2^63 bytes or more in all; expected less");
  ScheduleBuilder builder(1);
  builder.add_buffer(RankId(0), 2 * kHalf);
  EXPECT_EQ(refusal(builder), "buffer 0 has 9223372036854775808 bytes; expected at most 2^63 - 1");
  builder = ScheduleBuilder(1);
  builder.add_buffer(RankId(0), 8);
  builder.add_pre({{BufferId(0), 0, 8}, ValueId(0), ~std::uint64_t{0} - 3});
  EXPECT_THAT(refusal(builder), HasSubstr("a pre fact is about bytes of a value from 1844674407"));
}

}  // namespace
}  // namespace slackline::sched
