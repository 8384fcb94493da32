// Which of the ranks of its host a rank is.
#include "hw/verbs_places.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace slackline::hw {
namespace {

TEST(HostPlace, CountsRanksOfTheHostAndOfTheNodes) {
  // Ranks 0, 2, 3, 5 and 6 share a host, and lie on its two nodes in turn.
  const std::vector<std::vector<int>> nodes{{0}, {0}, {1}, {0}, {0}, {1}, {0}};
  const std::vector<std::uint32_t> here{0, 2, 3, 5, 6};
  const std::vector<std::uint32_t> on_nodes{0, 0, 1, 1, 2};
  for (std::uint32_t i = 0; i < here.size(); ++i) {
    const HostPlace place = host_place(here[i], here, nodes);
    EXPECT_EQ(place.on_host, i);
    EXPECT_EQ(place.on_nodes, on_nodes[i]);
  }
}

}  // namespace
}  // namespace slackline::hw
