// Which buffers a simulated run keeps.
#include "sched/kept_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sched/text.h"
#include "sched/value_bytes.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

// Buffers 0 to 3 are of rank 0, 4 to 7 of rank 1; buffer b has 9 + b bytes.
sched::Schedule program(const std::string& rest) {
  std::string text = "slackline schedule 1\nranks 2\n";
  for (int b = 0; b < 8; ++b) {
    text += "buffer " + std::to_string(b) + " rank " + std::to_string(b / 4) + " bytes " +
            std::to_string(9 + b) + "\n";
  }
  return sched::read_text(text + "channel 0 from 0 to 1\nchannel 1 from 0 to 1\n" + rest);
}

std::string kept(const std::string& rest) {
  const sched::Schedule schedule = program(rest);
  const sched::KeptMemory memory(schedule);
  std::string numbers;
  for (std::uint32_t b = 0; b < 8; ++b) {
    if (memory.keeps(BufferId(b))) numbers += std::to_string(b);
  }
  EXPECT_EQ(memory.empty(), numbers.empty());
  return numbers;
}

constexpr const char* kGet = "rank 0\n0 get on 0 reads 4[0+8] writes 0[0+8]";

TEST(KeptMemory, HasWhatAtomicsActOn) {
  EXPECT_EQ(kept("rank 0\n0 fetch_add on 0 reads 5[0+8] writes 5[0+8] 1[0+8] operand 1\n"), "5");
  EXPECT_EQ(kept("rank 0\n0 put on 0 reads 0[0+8] writes 4[0+8]\n"), "");
}

TEST(KeptMemory, HasWhatTestedGetsRead) {
  EXPECT_EQ(kept(std::string(kGet) + "\n"), "");
  EXPECT_EQ(kept(std::string(kGet) + " compare 3\n"), "4");
}

TEST(KeptMemory, HasWhatGetsReadWhoseResultIsUsed) {
  const std::string get = std::string(kGet) + "\n1 ";
  EXPECT_EQ(kept(get + "fetch_add on 0 reads 5[0+8] writes 5[0+8] operand result:0\n"), "45");
  EXPECT_EQ(kept(get + "compare_swap on 0 reads 5[0+8] writes 5[0+8] operand 1 compare result:0\n"),
            "45");
  EXPECT_EQ(kept(get + "put on 0 reads 0[0+8] writes 6[0+8] offset result:0\n"), "046");
  EXPECT_EQ(kept(get + "fetch_add on 0 reads 5[0+8] writes 5[0+8] operand attempt:0\n"), "5");
}

TEST(KeptMemory, HasWhatARunFindsTheAddressOf) {
  EXPECT_EQ(kept("rank 0\n0 put on 0 reads 0[0+8] writes 4[0+8] offset attempt:0\n"), "04");
  EXPECT_EQ(kept("rank 0\n0 get on 0 reads 4[0+8] writes 0[0+8] offset attempt:0\n"), "4");
  EXPECT_EQ(kept("rank 0\n0 put on 0 reads 0[0+8] writes 4[0+8] offset 1\n"), "");
}

TEST(KeptMemory, HasWhatFlowsThere) {
  const std::string atomic = "fetch_add on 0 reads 4[0+8] writes 4[0+8]\n";
  EXPECT_EQ(kept("rank 0\n0 put on 0 reads 1[0+8] writes 4[0+8]\n1 " + atomic), "14");
  // Through a copy that stands before, and a message.
  EXPECT_EQ(kept("rank 0\n0 copy reads 2[0+8] writes 1[0+8]\n1 send on 1 reads 1[0+8]\n2 " +
                 atomic + "rank 1\n3 recv on 1 writes 5[0+8]\n4 copy reads 5[0+8] writes 4[0+8]\n"),
            "1245");
  // Of another channel's sends nothing flows there.
  EXPECT_EQ(kept("rank 0\n0 send on 1 reads 1[0+8]\n1 send on 0 reads 2[0+8]\n2 " + atomic +
                 "rank 1\n3 recv on 1 writes 4[0+8]\n4 recv on 0 writes 5[0+8]\n"),
            "14");
  EXPECT_EQ(kept("rank 0\n0 " + atomic +
                 "rank 1\n1 reduce reads 6[0+8] 7[0+8] writes 4[0+8]\n"
                 "2 copy reads 4[0+8] writes 5[0+8]\n"),
            "467");
  EXPECT_EQ(kept("rank 0\n0 get on 0 reads 6[0+8] writes 3[0+8]\n1 put on 0 reads 3[0+8] writes "
                 "4[0+8]\n2 " +
                 atomic),
            "346");
}

TEST(KeptMemory, LiesInWholeWords) {
  const sched::Schedule schedule = program(
      "rank 0\n0 put on 0 reads 1[0+8] writes 4[0+8]\n"
      "1 fetch_add on 0 reads 4[0+8] writes 4[0+8]\n"
      "2 fetch_add on 0 reads 7[0+8] writes 7[0+8]\n"
      "pre 1[2+5] value 3 at 6\npre 0[0+9] value 4\npre 7[15+1] value 5\n");
  const sched::KeptMemory memory(schedule);
  EXPECT_EQ(memory.begin_of(BufferId(1)), 0u);
  EXPECT_EQ(memory.begin_of(BufferId(4)), 16u);  // behind 10 bytes
  EXPECT_EQ(memory.begin_of(BufferId(7)), 32u);  // behind 13
  EXPECT_EQ(memory.bytes(), 48u);                // and 16 of its own
  std::vector<std::byte> bytes(memory.bytes(), std::byte{0});
  EXPECT_EQ(memory.of(BufferId(4), std::span(bytes)).size(), 13u);
  sched::write_given(schedule, memory, bytes);
  for (std::uint64_t i = 0; i < bytes.size(); ++i) {
    const std::byte expected = i >= 2 && i < 7 ? sched::value_byte(sched::ValueId(3), i + 4)
                               : i == 47       ? sched::value_byte(sched::ValueId(5), 0)
                                               : std::byte{0};
    ASSERT_EQ(bytes[i], expected) << i;
  }
}

TEST(KeptMemory, HasItsMost) {
  const auto error = [](std::uint64_t first, std::uint64_t second) -> std::string {
    const sched::Schedule schedule = sched::read_text(
        "slackline schedule 1\nranks 1\nbuffer 0 rank 0 bytes " + std::to_string(first) +
        "\nbuffer 1 rank 0 bytes " + std::to_string(second) +
        "\nchannel 0 from 0 to 0\nrank 0\n"
        "0 fetch_add on 0 reads 0[0+8] writes 0[0+8]\n1 fetch_add on 0 reads 1[0+8] writes "
        "1[0+8]\n");
    return testing::error_of([&] { const sched::KeptMemory memory(schedule); });
  };
  constexpr std::uint64_t kMost = 1ull << 40;
  const std::string text =
      ": a simulated run keeps the bytes that its atomics, tests and addresses depend on, here "
      "more than 1 TiB";
  EXPECT_EQ(error(kMost - 8, 8), "");
  EXPECT_EQ(error(kMost - 8, 9), "buffer 1" + text);
  EXPECT_EQ(error(kMost + 1, 8), "buffer 0" + text);
  EXPECT_EQ(error(8, kMost - 7), "buffer 1" + text);
}

}  // namespace
}  // namespace slackline::sched
