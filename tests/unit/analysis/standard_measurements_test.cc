// The standard round of measurements, to the last message, and what memory leaves of it.
#include "analysis/fit/standard_measurements.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace slackline::analysis {
namespace {

std::string text_of(const std::vector<Measurement>& all) {
  std::string text;
  for (const Measurement& m : all) {
    text += fmt::format("{} {} {}\n", name(m.kind), m.bytes, m.messages);
  }
  return text;
}

const std::string kRound =
    "post 8 16\npost 8 48\n"
    "pingpong 8 8\npingpong 512 8\npingpong 4096 8\npingpong 32768 8\npingpong 262144 8\n"
    "pingpong 1048576 8\npingpong 4194304 8\n"
    "send 8 4\nsend 512 4\nsend 4096 4\nsend 32768 4\nsend 262144 4\nsend 1048576 4\n"
    "send 4194304 4\n"
    "get 8 4\nget 4096 4\nget 262144 4\nget 1048576 4\n"
    "atomic 8 4\natomic 8 16\n"
    "stream 8 16\nstream 512 16\nstream 4096 16\nstream 32768 16\nstream 262144 16\n"
    "stream 1048576 16\n"
    "burst 8 16\nburst 512 16\nburst 4096 16\nburst 32768 16\n"
    "copy 4096 4\ncopy 65536 4\ncopy 1048576 4\ncopy 4194304 4\n"
    "behind 8 4\nbehind 512 4\nbehind 4096 4\nbehind 16384 4\nbehind 65536 4\nbehind 262144 4\n";

TEST(StandardMeasurements, AreARoundAsOftenAsAsked) {
  constexpr std::uint64_t kPlenty = 1ull << 32;
  EXPECT_EQ(text_of(standard_measurements(1, true, kPlenty)), kRound);
  EXPECT_EQ(text_of(standard_measurements(3, true, kPlenty)), kRound + kRound + kRound);
  EXPECT_EQ(standard_measurements(0, true, kPlenty).size(), 0u);
  std::string without = kRound;
  without.erase(without.find("atomic"), without.find("stream") - without.find("atomic"));
  EXPECT_EQ(text_of(standard_measurements(1, false, kPlenty)), without);
}

// Fewer messages than two measure nothing. Those that are behind others need room for these, too.
TEST(StandardMeasurements, TakeNoMoreMemoryThanThereIs) {
  EXPECT_EQ(text_of(standard_measurements(1, true, 3 * 4096)),
            "post 8 16\npost 8 48\npingpong 8 8\npingpong 512 8\npingpong 4096 3\nsend 8 4\n"
            "send 512 4\nsend 4096 3\nget 8 4\nget 4096 3\natomic 8 4\natomic 8 16\nstream 8 16\n"
            "stream 512 16\nstream 4096 3\nburst 8 16\nburst 512 16\nburst 4096 3\ncopy 4096 3\n");
  const auto behind = [](std::uint64_t memory_bytes) {
    std::string text;
    for (const Measurement& m : standard_measurements(1, false, memory_bytes)) {
      if (m.kind == PointKind::kBehind) text += fmt::format("{}*{} ", m.bytes, m.messages);
    }
    return text;
  };
  EXPECT_EQ(behind(2 * (1048576 + 512)), "8*2 512*2 ");
  EXPECT_EQ(behind(2 * (1048576 + 512) - 1), "8*2 ");
  EXPECT_EQ(behind(3 * (1048576 + 8)), "8*3 512*2 4096*2 16384*2 65536*2 262144*2 ");
  EXPECT_EQ(standard_measurements(1, true, 15).size(), 0u);
  EXPECT_EQ(text_of(standard_measurements(1, false, 16)),
            "post 8 2\npost 8 2\npingpong 8 2\nsend 8 2\nget 8 2\nstream 8 2\nburst 8 2\n");
}

}  // namespace
}  // namespace slackline::analysis
