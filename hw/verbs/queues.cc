#include "hw/verbs/queues.h"

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>

namespace slackline::hw {
namespace {

constexpr std::uint32_t kQueueSize = 4096;

}  // namespace

ibv_cq* VerbsQueues::reserve(std::uint32_t completions) {
  for (Queue& queue : queues_) {
    if (queue.size - queue.reserved < completions) continue;
    queue.reserved += completions;
    return queue.queue.get();
  }
  const std::uint32_t size = std::min(std::max(kQueueSize, completions), device_.max_completions());
  Verbs<ibv_cq> made(
      ibv_create_cq(device_.context(), static_cast<int>(size), nullptr, channel_, 0));
  if (!made) {
    device_.throw_failed(fmt::format("creating a completion queue of {} entries", size), errno);
  }
  queues_.push_back({std::move(made), size, completions});
  return queues_.back().queue.get();
}

void VerbsQueues::release(ibv_cq* queue, std::uint32_t completions) {
  for (Queue& of : queues_) {
    if (of.queue.get() == queue) of.reserved -= completions;
  }
}

std::size_t VerbsQueues::poll(std::span<ibv_wc> completions) {
  std::size_t filled = 0;
  for (std::size_t q = 0; q < queues_.size() && filled < completions.size(); ++q) {
    ibv_cq* const queue = queues_[(first_ + q) % queues_.size()].queue.get();
    const int count = ibv_poll_cq(queue, static_cast<int>(completions.size() - filled),
                                  completions.data() + filled);
    if (count < 0) device_.throw_failed("polling a completion queue", -count);
    filled += static_cast<std::size_t>(count);
  }
  if (filled == completions.size()) ++first_;
  return filled;
}

void VerbsQueues::arm() {
  for (const Queue& queue : queues_) {
    if (const int error = ibv_req_notify_cq(queue.queue.get(), 0); error != 0) {
      device_.throw_failed("arming a completion queue", error);
    }
  }
}

void VerbsQueues::drain() {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel_, &queue, &context) == 0) ibv_ack_cq_events(queue, 1);
}

}  // namespace slackline::hw
