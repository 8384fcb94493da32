// Sorts the events of an instant.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/event_queue.h"

namespace slackline::machine {

/// By operation, then kind. Its memory is used again.
class EventOrder {
 public:
  void sort(std::vector<ExecutionEvent>& events);

 private:
  void distribute(std::vector<ExecutionEvent>& events);
  void sort_large_buckets(std::vector<ExecutionEvent>& events) const;

  std::vector<std::uint32_t> next_;  // of each bucket: where its next event goes
  std::vector<ExecutionEvent> sorted_;
};

}  // namespace slackline::machine
