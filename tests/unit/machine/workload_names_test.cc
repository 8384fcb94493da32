// How a workload and its groups are called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "machine/workload.h"

namespace slackline::machine {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> group_names(const Workload& workload) {
  std::vector<std::string> names;
  for (const WorkloadGroup& group : workload.groups) names.push_back(group.name);
  return names;
}

const std::string kPattern = "schedule = \"chain:block=1KB\"\nbytes = \"4KB\"\n";

TEST(WorkloadNames, AreTheFileAndOfGroupsTheirOwnOrTheirPlace) {
  const std::string group = "[[group]]\nranks = [0, 1]\n" + kPattern;
  const Workload w =
      workload_from_toml("ranks = 4\n" + group + group + "name = \"last\"\n" + group, "w.toml");
  EXPECT_EQ(w.name, "w.toml");
  EXPECT_EQ(compose_workload(w).schedule.title(), "w.toml");
  EXPECT_THAT(group_names(w), ElementsAre("0", "last", "2"));
}

TEST(WorkloadNames, OfGeneratedGroupsAreTheirRanksBehindTheGivenName) {
  const auto names = [](const std::string& name) {
    return group_names(workload_from_toml(
        "ranks = 4\n[[groups]]\nchoose = 2\nfrom = \"1-3\"\nroot = 0\nwrites = 3\n" + kPattern +
            name,
        "w.toml"));
  };
  EXPECT_THAT(names(""), ElementsAre("1+2", "1+3", "2+3"));
  EXPECT_THAT(names("name = \"r\"\n"), ElementsAre("r1+2", "r1+3", "r2+3"));
}

}  // namespace
}  // namespace slackline::machine
