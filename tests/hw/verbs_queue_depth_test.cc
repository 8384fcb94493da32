// How much room queues take: what is wanted, within what may be pinned.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "hw/verbs/queue_depth.h"

namespace slackline::hw {
namespace {

TEST(QueueDepth, IsWhatIsWantedWithinTheBound) {
  EXPECT_EQ(queue_depth(true, 0, kMostReceives), kMostSends);
  EXPECT_EQ(queue_depth(false, 0, kMostReceives), kMostReceives);
  EXPECT_EQ(queue_depth(true, 100, kMostReceives), 100u);
  EXPECT_EQ(queue_depth(true, 1, kMostReceives), kLeastDepth);
  EXPECT_EQ(queue_depth(true, 1'000'000, kMostReceives), kMostSends);
  EXPECT_EQ(queue_depth(false, 100, 50), 50u);
}

TEST(QueueDepth, QueuesOfManyChannelsStayWithinTheirMemory) {
  for (const std::uint32_t segments : {1u, 4u, 16u}) {
    const std::uint64_t least = kLeastDepth * request_bytes(segments);
    for (const std::uint64_t ends : {1, 2, 100, 510, 2'000, 10'000, 100'000}) {
      const std::uint32_t bound = depth_bound(ends, 0, segments);
      EXPECT_GE(bound, kLeastDepth);
      EXPECT_LE(ends * bound * request_bytes(segments), std::max(kMostQueueBytes, ends * least));
      // What is taken already counts.
      EXPECT_EQ(depth_bound(ends, kMostQueueBytes, segments), kLeastDepth);
      EXPECT_EQ(depth_bound(ends, 2 * kMostQueueBytes, segments), kLeastDepth);
    }
    // A few have all the room that there is.
    EXPECT_EQ(depth_bound(100, 0, segments), kMostReceives);
    EXPECT_EQ(depth_bound(0, 0, segments), kMostReceives);
  }
  EXPECT_EQ(request_bytes(16), 384u);  // 64 + 256, and 64
}

}  // namespace
}  // namespace slackline::hw
