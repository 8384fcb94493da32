// What the options of verbs say, as the transport is told.
#include "cli/verbs_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace slackline::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

VerbsArguments read(const std::vector<std::string>& arguments) {
  VerbsArguments options;
  Arguments reader("run", "…");
  options.declare(reader);
  reader.parse(arguments);
  return options;
}

TEST(VerbsArguments, AreAsTheyWereGiven) {
  const hw::VerbsOptions options =
      read({"--device=mlx5_0:2", "--gid-index=3", "--traffic-class=96", "--service-level=15",
            "--pkey=0x8001", "--mtu=2KiB", "--qp-timeout=500ms", "--retry=7"})
          .resolve();
  EXPECT_EQ(options.device, "mlx5_0:2");
  EXPECT_EQ(options.gid_index, 3);
  EXPECT_EQ(options.traffic_class, 96);
  EXPECT_EQ(options.service_level, 15);
  EXPECT_EQ(options.partition->key, 0x8001);
  EXPECT_EQ(options.mtu, 2048u);
  EXPECT_EQ(options.ack_timeout, 17);
  EXPECT_EQ(options.retries, 7);
}

TEST(VerbsArguments, AreTheUsualOnesWhereNoneIsGiven) {
  const VerbsArguments none = read({});
  EXPECT_EQ(none.given(), "");
  EXPECT_EQ(none.note(), "");
  none.check("shm");
  const hw::VerbsOptions options = none.resolve();
  EXPECT_EQ(options.device, "");
  EXPECT_FALSE(options.nearest);
  EXPECT_THAT(options.device_map, IsEmpty());
  EXPECT_FALSE(options.gid_index || options.partition || options.ack_timeout);
  EXPECT_EQ(options.mtu, 0u);
  EXPECT_EQ(options.retries, 6);
}

TEST(VerbsArguments, NameDevicesForTheRanksOfAHost) {
  EXPECT_THAT(read({"--device-map=a,b:2,a"}).resolve().device_map, ElementsAre("a", "b:2", "a"));
  const hw::VerbsOptions nearest = read({"--device-map=auto"}).resolve();
  EXPECT_TRUE(nearest.nearest);
  EXPECT_THAT(nearest.device_map, IsEmpty());
}

TEST(VerbsArguments, TakeAPartitionByItsPlace) {
  const auto partition = read({"--pkey=3"}).resolve().partition;
  EXPECT_EQ(partition->index, 3);
  EXPECT_FALSE(partition->key);
}

TEST(VerbsArguments, SayWhatATimeoutWasTakenAs) {
  EXPECT_EQ(read({"--qp-timeout=500ms"}).note(),
            "--qp-timeout 500ms: taken as 536.9 ms (4.096 us times 2^17)");
  EXPECT_EQ(read({"--qp-timeout=68719476736ns"}).note(), "");
  EXPECT_NE(read({"--qp-timeout=68719476737ns"}).note(), "");
}

TEST(VerbsArguments, AreRefusedBesideOtherTransports) {
  const VerbsArguments options = read({"--retry=3"});
  EXPECT_EQ(options.given(), "--retry");
  options.check("verbs");
  EXPECT_THROW(options.check("auto"), InputError);
}

}  // namespace
}  // namespace slackline::cli
