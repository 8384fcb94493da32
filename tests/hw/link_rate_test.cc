#include "hw/link_rate.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/temp_folder.h"

namespace slackline {
namespace {

class LinkRate : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) { sys_.write(path, text + '\n'); }
  hw::LinkFacts interface(const std::string& name) const {
    return hw::interface_link(name, sys_.path().string());
  }
  std::uint64_t port(const std::string& device, unsigned number) const {
    return hw::rdma_port_rate(device, number, sys_.path().string());
  }

  const testing::TempFolder sys_;
};

TEST_F(LinkRate, OfAnInterface) {
  write("class/net/eth0/speed", "25000");
  write("class/net/eth0/mtu", "9000");
  EXPECT_EQ(interface("eth0").bits_per_s, 25'000'000'000u);
  EXPECT_EQ(interface("eth0").mtu, 9000u);
}

TEST_F(LinkRate, WhatAnInterfaceDoesNotTellIsNotKnown) {
  write("class/net/down/speed", "-1");
  write("class/net/down/mtu", "1500");
  EXPECT_EQ(interface("down").bits_per_s, 0u);
  EXPECT_EQ(interface("down").mtu, 1500u);
  write("class/net/odd/speed", "fast");
  write("class/net/odd/mtu", "99999999999999999999999");
  for (const char* const name : {"odd", "none", "", ".", "..", "../net/down", "down/"}) {
    EXPECT_EQ(interface(name).bits_per_s, 0u) << name;
    EXPECT_EQ(interface(name).mtu, 0u) << name;
  }
}

TEST_F(LinkRate, OfAnRdmaPort) {
  write("class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)");
  write("class/infiniband/mlx5_0/ports/2/rate", "2.5 Gb/sec (1X SDR)");
  write("class/infiniband/mlx5_0/ports/3/rate", "no rate");
  write("class/infiniband/mlx5_0/ports/4/rate", "1e300 Gb/sec");
  EXPECT_EQ(port("mlx5_0", 1), 100'000'000'000u);
  EXPECT_EQ(port("mlx5_0", 2), 2'500'000'000u);
  for (const unsigned other : {0u, 3u, 4u, 5u}) EXPECT_EQ(port("mlx5_0", other), 0u) << other;
  EXPECT_EQ(port("../infiniband/mlx5_0", 1), 0u);
}

}  // namespace
}  // namespace slackline
