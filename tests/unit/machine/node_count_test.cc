#include "machine/node_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "machine/wiring.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

std::optional<std::uint32_t> nodes_of(const std::string& text) {
  return node_count(load_platform(text));
}

TEST(NodeCount, OfEveryPreset) {
  EXPECT_EQ(nodes_of("apt"), 196u);
  EXPECT_EQ(nodes_of("cori"), 2304u);
  EXPECT_EQ(nodes_of("fdr-4node"), 4u);
  EXPECT_EQ(nodes_of("fractus"), 16u);
  EXPECT_EQ(nodes_of("local"), std::nullopt);
  EXPECT_EQ(nodes_of("sierra"), 1944u);
  EXPECT_EQ(nodes_of("stampede"), 6400u);
  EXPECT_EQ(nodes_of("tcp-wan"), std::nullopt);
}

TEST(NodeCount, FiguresOfOnesOwnChangeNoNumber) {
  EXPECT_EQ(nodes_of("fractus:nic=fair,latency=2us"), 16u);
  EXPECT_EQ(nodes_of("apt:racks=2"), 56u);
  EXPECT_EQ(nodes_of("star:rate=100Gbps"), std::nullopt);
  EXPECT_EQ(nodes_of("torus:dims=3x4x2"), 24u);
}

// What is said and what is refused are one number.
TEST(NodeCount, IsWhatANetworkTakes) {
  for (const char* text : {"apt", "two-level:racks=3,hosts=5",
                           "fat-tree:down=2x3,up=1x2,parallel=1x1", "torus:dims=3x4x2"}) {
    const Platform platform = load_platform(text);
    const std::uint32_t nodes = node_count(platform).value();
    EXPECT_NO_THROW(Wiring(platform, nodes)) << text;
    EXPECT_THROW(Wiring(platform, nodes + 1), InputError) << text;
  }
}

TEST(NodeCount, OnlyAPresetsFileSaysIt) {
  const std::string head = "schema = 1\nname = \"mine\"\n";
  EXPECT_EQ(node_count(platform_from_toml(head, "mine.toml")), std::nullopt);
  EXPECT_THAT(testing::error_of([&] { platform_from_toml(head + "nodes = 16\n", "mine.toml"); }),
              ::testing::StartsWith("mine.toml:3: nodes: "));
  const std::string fractus = "schema = 1\nname = \"fractus\"\n";
  EXPECT_EQ(node_count(platform_from_toml(fractus + "nodes = 16\n", "f.toml")), 16u);
  EXPECT_THROW(platform_from_toml(fractus + "nodes = 17\n", "f.toml"), InputError);
}

}  // namespace
}  // namespace slackline::machine
