// Shares of a study: as they are written, and as launchers number their processes.
#include "sweep/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/support/error_of.h"

namespace slackline::sweep {
namespace {

using ::testing::HasSubstr;

Shard of(const std::map<std::string, std::string>& environment) {
  return shard_of_launcher(
      [&](const char* name) {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
      },
      "--shard");
}

TEST(Shard, IsReadAsItIsWritten) {
  EXPECT_EQ(parse_shard("0/1", "--shard").count, 1u);
  EXPECT_EQ(parse_shard("3/8", "--shard").number, 3u);
  for (const char* text : {"", "3", "8/8", "/2", "1/", "-1/2", "0/0", "1/2/3", "0/1000001"}) {
    EXPECT_THAT(testing::error_of([&] { parse_shard(text, "--shard"); }),
                HasSubstr("expected which of how many shards"))
        << text;
  }
}

TEST(Shard, IsThatOfTheLauncher) {
  EXPECT_EQ(of({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}).number, 1u);
  EXPECT_EQ(of({{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}).count, 4u);
  EXPECT_EQ(of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "3"}}).count, 3u);
  // Each task of an array is a job of one process.
  const Shard task = of({{"SLURM_ARRAY_TASK_ID", "3"},
                         {"SLURM_ARRAY_TASK_COUNT", "4"},
                         {"SLURM_PROCID", "0"},
                         {"SLURM_NTASKS", "1"}});
  EXPECT_EQ(task.number, 3u);
  EXPECT_EQ(task.count, 4u);
  EXPECT_THAT(testing::error_of([] { of({}); }), HasSubstr("no launcher numbers this process"));
  EXPECT_THAT(testing::error_of([] {
                of({{"SLURM_ARRAY_TASK_ID", "4"}, {"SLURM_ARRAY_TASK_COUNT", "4"}});
              }),
              HasSubstr("numbered from 0 on"));
}

}  // namespace
}  // namespace slackline::sweep
