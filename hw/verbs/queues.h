// Completion queues with room for all that queue pairs may ever put into them, so that none
// overflows: who makes a queue pair reserves first, and a queue that is full gets another beside
// it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/verbs/device.h"

struct ibv_wc;

namespace slackline::hw {

class VerbsQueues {
 public:
  /// Makes no queue yet. Both must outlive this; the channel is non-blocking, and tells of those
  /// queues that were armed.
  VerbsQueues(const VerbsDevice& device, ibv_comp_channel* channel)
      : device_(device), channel_(channel) {}

  /// A queue with room for so many more.
  ibv_cq* reserve(std::uint32_t completions);
  /// Gives a reservation back; the queue holds no completion of it any more.
  void release(ibv_cq* queue, std::uint32_t completions);

  /// Takes completions out, the oldest of each queue first; answers how many.
  std::size_t poll(std::span<ibv_wc> completions);
  /// From now on, the next completion makes the channel readable, once. One that is there already
  /// may not: poll after this.
  void arm();
  /// Reads what the channel told.
  void drain();

 private:
  struct Queue {
    Verbs<ibv_cq> queue;
    std::uint32_t size = 0;
    std::uint32_t reserved = 0;
  };

  const VerbsDevice& device_;
  ibv_comp_channel* channel_;
  std::vector<Queue> queues_;
  std::size_t first_ = 0;  // polled first, so that none starves
};

}  // namespace slackline::hw
