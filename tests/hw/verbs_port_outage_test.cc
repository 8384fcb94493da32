// When a port was down.
#include <gtest/gtest.h>

#include <chrono>

#include "hw/verbs/port_outage.h"

namespace slackline::hw {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kMemory{60};

TEST(PortOutage, LastsFromTheFirstWordToTheLast) {
  PortOutage outage;
  const PortOutage::Clock::time_point start{};
  const auto at = [&](int ms) { return start + milliseconds(ms); };
  EXPECT_FALSE(outage.is_down());
  EXPECT_EQ(outage.text(at(5), kMemory), "");
  outage.end(at(1));  // up it was
  EXPECT_EQ(outage.text(at(5), kMemory), "");
  outage.begin(at(1'000));
  outage.begin(at(1'500));
  EXPECT_TRUE(outage.is_down());
  EXPECT_EQ(outage.duration(at(2'200)), milliseconds(1'200));
  EXPECT_EQ(outage.text(at(2'200), kMemory), "has been down for 1.2 s");
  outage.end(at(2'500));
  outage.end(at(2'900));
  EXPECT_FALSE(outage.is_down());
  EXPECT_EQ(outage.duration(at(3'000)), milliseconds(0));
  EXPECT_EQ(outage.text(at(3'000), kMemory), "was down for 1.5 s, until 0.5 s ago");
  EXPECT_EQ(outage.text(at(62'500), kMemory), "was down for 1.5 s, until 60.0 s ago");
  EXPECT_EQ(outage.text(at(62'501), kMemory), "");
  outage.begin(at(4'000));
  EXPECT_EQ(outage.duration(at(4'100)), milliseconds(100));
}

}  // namespace
}  // namespace slackline::hw
