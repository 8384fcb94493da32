#include "analysis/engines/fluid_queue.h"

namespace slackline::analysis {

void FluidQueue::push(std::span<const FluidPart> parts) {
  double bytes = 0;
  for (const FluidPart& part : parts) {
    parts_.push_back(part);
    bytes += part.bytes;
  }
  pieces_.push_back({static_cast<std::uint32_t>(parts.size()), bytes});
  bytes_ += bytes;
  entered_ += bytes;
}

}  // namespace slackline::analysis
