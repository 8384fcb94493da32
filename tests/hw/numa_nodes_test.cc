// Which cores belong to which NUMA node, read from a machine that is files.
#include "hw/numa_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "hw/host_cores.h"
#include "tests/support/temp_folder.h"

namespace slackline::hw {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CpuList, IsNumbersAndRanges) {
  EXPECT_THAT(parse_cpu_list("0-3,8"), ElementsAre(0, 1, 2, 3, 8));
  EXPECT_THAT(parse_cpu_list("5"), ElementsAre(5));
  EXPECT_THAT(parse_cpu_list("7,1-2"), ElementsAre(1, 2, 7));
  for (const char* const none : {"", ",", "1,", "1-", "-1", "3-1", "x", "1 2", "0-99999999"}) {
    EXPECT_THAT(parse_cpu_list(none), IsEmpty()) << none;
  }
}

class NodesOfFiles : public ::testing::Test {
 protected:
  NodesOfFiles() {
    add("node0", "0-3", "10 21 31");
    add("node2", "4-7", "31 17 10");
    add("node1", "8-11", "21 10 17");
    add("nodes", "0-99", "");  // none
  }

  void add(const std::string& name, const std::string& cores, const std::string& distances) {
    root_.write(name + "/cpulist", cores + '\n');
    root_.write(name + "/distance", distances + '\n');
  }
  NumaNodes of_files() const { return NumaNodes::of_this_machine(root_.path()); }

  const slackline::testing::TempFolder root_;
};

TEST_F(NodesOfFiles, KnowTheirCoresAndDistances) {
  const NumaNodes nodes = of_files();
  EXPECT_THAT(nodes.of_cores({1, 9}), ElementsAre(0, 1));
  EXPECT_THAT(nodes.of_cores({7}), ElementsAre(2));
  EXPECT_THAT(nodes.of_cores({50}), IsEmpty());
  EXPECT_THAT(nodes.numbers(), ElementsAre(0, 1, 2));
  EXPECT_EQ(nodes.distance({0}, 0), 10);
  EXPECT_EQ(nodes.distance({0}, 2), 31);
  EXPECT_EQ(nodes.distance({0, 1}, 2), 17);
  EXPECT_EQ(nodes.distance({}, 0), 20);
  EXPECT_EQ(nodes.distance({0}, -1), 20);
  EXPECT_EQ(nodes.distance({0}, 9), 20);
}

TEST_F(NodesOfFiles, AreNoneOnMachinesThatTellNothing) {
  const NumaNodes nodes = NumaNodes::of_this_machine(root_.path("nowhere"));
  EXPECT_THAT(nodes.of_cores(allowed_cores()), IsEmpty());
  EXPECT_THAT(nodes.numbers(), IsEmpty());
  EXPECT_EQ(nodes.distance({0}, 0), 20);
}

TEST_F(NodesOfFiles, AreThoseOfTheCoresThatThisThreadMayUse) {
  const std::vector<std::uint32_t> allowed = allowed_cores();
  add("node0", "60000", "10 21 31");
  add("node1", std::to_string(allowed.front()), "21 10 17");
  add("node2", "60001", "31 17 10");
  EXPECT_THAT(of_files().of_cores(allowed), ElementsAre(1));
}

}  // namespace
}  // namespace slackline::hw
