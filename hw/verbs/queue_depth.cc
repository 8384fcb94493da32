#include "hw/verbs/queue_depth.h"

#include <algorithm>

namespace slackline::hw {
namespace {

constexpr std::uint64_t kHeadBytes = 64;  // of a request: what to do, and where
constexpr std::uint64_t kSegmentBytes = 16;
constexpr std::uint64_t kBlockBytes = 64;  // entries are whole ones
constexpr std::uint64_t kCompletionBytes = 64;

}  // namespace

std::uint64_t request_bytes(std::uint32_t segments) {
  const std::uint64_t entry = kHeadBytes + segments * kSegmentBytes;
  return (entry + kBlockBytes - 1) / kBlockBytes * kBlockBytes + kCompletionBytes;
}

std::uint32_t depth_bound(std::uint64_t ends, std::uint64_t taken_bytes, std::uint32_t segments) {
  const std::uint64_t left = kMostQueueBytes - std::min(kMostQueueBytes, taken_bytes);
  const std::uint64_t each = left / std::max<std::uint64_t>(1, ends) / request_bytes(segments);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(each, kLeastDepth, kMostReceives));
}

std::uint32_t queue_depth(bool initiates, std::uint32_t wanted, std::uint32_t bound) {
  std::uint32_t depth = std::min(bound, initiates ? kMostSends : kMostReceives);
  if (wanted != 0) depth = std::min(depth, std::max(wanted, kLeastDepth));
  return depth;
}

}  // namespace slackline::hw
