// How long a NIC tries by itself, and how ports are named.
#include "hw/verbs_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>

#include "base/error.h"

namespace slackline::hw {
namespace {

using std::chrono::milliseconds;

TEST(AckTimeout, IsTheLeastPowerThatIsLongEnough) {
  EXPECT_DOUBLE_EQ(ack_timeout_s(0), 4.096e-6);
  EXPECT_DOUBLE_EQ(ack_timeout_s(17), 0.536870912);
  for (std::uint8_t exponent = 1; exponent <= 31; ++exponent) {
    const double exact_s = ack_timeout_s(exponent);
    EXPECT_EQ(ack_exponent(exact_s), exponent);
    EXPECT_EQ(ack_exponent(exact_s * 1.001), std::min(31, exponent + 1));
  }
  EXPECT_EQ(ack_exponent(1e-9), 1);
  EXPECT_EQ(ack_exponent(1e9), 31);
}

TEST(AckTimeout, AllTriesLastForTheFailureTimeout) {
  VerbsOptions options;
  EXPECT_EQ(ack_timeout_of(options), 17);
  for (const std::uint8_t retries : std::initializer_list<std::uint8_t>{0, 1, 6, 7}) {
    for (const int ms : {100, 2'000, 4'000, 30'000, 3'600'000}) {
      options.retries = retries;
      options.failure_timeout = milliseconds(ms);
      const std::uint8_t exponent = ack_timeout_of(options);
      EXPECT_GE(ack_timeout_s(exponent) * (retries + 1), ms * 1e-3);
      if (exponent > 17) {
        EXPECT_LT(ack_timeout_s(exponent - 1) * (retries + 1), ms * 1e-3);
      }
      EXPECT_GE(exponent, 17);
    }
  }
  options.ack_timeout = 5;
  EXPECT_EQ(ack_timeout_of(options), 5);
}

TEST(PortName, IsADeviceAndPerhapsItsPort) {
  EXPECT_EQ(parse_port_name("mlx5_0", "x").device, "mlx5_0");
  EXPECT_EQ(parse_port_name("mlx5_0", "x").port, 0);
  EXPECT_EQ(parse_port_name("mlx5_0:255", "x").device, "mlx5_0");
  EXPECT_EQ(parse_port_name("mlx5_0:255", "x").port, 255);
  for (const char* const bad : {"", ":", ":1", "a:", "a:0", "a:256", "a:1x", "a:-1"}) {
    EXPECT_THROW(parse_port_name(bad, "x"), InputError) << bad;
  }
}

}  // namespace
}  // namespace slackline::hw
