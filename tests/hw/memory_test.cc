// Real bytes: values, and how a rank's memory is held against the contract.
#include "hw/executor/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/builder.h"

namespace slackline {
namespace {

using sched::RankId;
using sched::ValueId;

// One buffer of rank 0 in which pieces of values stand before and after.
sched::Schedule schedule_of(const std::vector<sched::Slice>& slices, std::uint64_t value_offset) {
  sched::ScheduleBuilder builder(1);
  builder.add_buffer(RankId(0), 20000);
  for (std::uint32_t v = 0; v < slices.size(); ++v) {
    builder.add_pre({slices[v], ValueId(v), value_offset});
    builder.add_post({slices[v], ValueId(v), value_offset});
  }
  return builder.build();
}

TEST(RankMemory, HoldsValuesAtAnyOffset) {
  for (std::uint64_t value_offset = 0; value_offset < 9; ++value_offset) {
    const std::vector<sched::Slice> slices{{sched::BufferId(0), 3, 1},
                                           {sched::BufferId(0), 7, 9001},
                                           {sched::BufferId(0), 9011, 8192}};
    const sched::Schedule schedule = schedule_of(slices, value_offset);
    hw::RankMemory memory(schedule, RankId(0), {}, 0);
    memory.fill();
    EXPECT_EQ(memory.first_breach().value_or(""), "");
    std::size_t in_values = 0;
    for (std::uint32_t v = 0; v < slices.size(); ++v) {
      const auto bytes = memory.at(slices[v]);
      for (std::uint64_t i = 0; i < bytes.size(); ++i) {
        ASSERT_EQ(bytes[i], hw::value_byte(ValueId(v), value_offset + i));
        // So that bytes nobody wrote never pass for a value.
        ASSERT_NE(bytes[i], std::byte{0});
      }
      in_values += bytes.size();
    }
    const auto all = memory.at({sched::BufferId(0), 0, 20000});
    EXPECT_EQ(std::count(all.begin(), all.end(), std::byte{0}), 20000 - in_values);
  }
}

TEST(RankMemory, NamesTheFirstWrongByte) {
  const sched::Schedule schedule = schedule_of({{sched::BufferId(0), 5, 15000}}, 2);
  hw::RankMemory memory(schedule, RankId(0), {}, 0);
  for (const std::uint64_t wrong : {0, 1, 4095, 4096, 8191, 14999}) {
    memory.fill();
    for (const std::uint64_t later : {wrong, std::uint64_t{14999}}) {
      memory.at({sched::BufferId(0), 5 + later, 1})[0] ^= std::byte{1};
      if (wrong == 14999) break;
    }
    EXPECT_THAT(
        memory.first_breach().value_or(""),
        ::testing::StartsWith("rank 0: byte " + std::to_string(5 + wrong) + " of buffer 0"));
    EXPECT_THAT(memory.first_breach().value_or(""),
                ::testing::EndsWith("byte " + std::to_string(2 + wrong) + " of value 0"));
  }
}

TEST(RankMemory, AValueDoesNotPassForAnother) {
  std::size_t equal = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    equal += hw::value_byte(ValueId(1), i) == hw::value_byte(ValueId(2), i) ? 1 : 0;
  }
  // About one in 256.
  EXPECT_LT(equal, 100);
}

}  // namespace
}  // namespace slackline
