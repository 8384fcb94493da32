// Which tasks' contexts, a stack's top and registers, a core's cache holds.
#pragma once

#include <cstdint>
#include <vector>

namespace slackline::sched {

/// The `room` contexts of a core that were used last, none at first. Without room, every context
/// is at hand: a scheduler that prefetches has it in time.
class ContextCache {
 public:
  /// Of a core with tasks 0 … tasks − 1.
  ContextCache(std::uint32_t room, std::uint32_t tasks)
      : room_(room < tasks ? room : tasks), all_(room == 0) {
    if (!all_) links_.assign(std::size_t{tasks} + 1, {tasks, tasks, false});
  }

  /// The core goes on with a task: whether its context was there. From then on it is.
  bool use(std::uint32_t task) {
    if (all_) return true;
    const bool hit = links_[task].held;
    if (hit) {
      take_out(task);
    } else if (held_ == room_) {
      take_out(links_[end()].before);
    } else {
      ++held_;
    }
    Link& newest = links_[end()];
    links_[task] = {end(), newest.after, true};
    links_[newest.after].before = task;
    newest.after = task;
    return hit;
  }

 private:
  // A ring, from the newest to the oldest; its end stands behind the tasks.
  struct Link {
    std::uint32_t before;
    std::uint32_t after;
    bool held;
  };
  std::uint32_t end() const { return static_cast<std::uint32_t>(links_.size() - 1); }
  void take_out(std::uint32_t task) {
    Link& link = links_[task];
    links_[link.before].after = link.after;
    links_[link.after].before = link.before;
    link.held = false;
  }

  std::uint32_t room_;
  bool all_;
  std::uint32_t held_ = 0;
  std::vector<Link> links_;
};

}  // namespace slackline::sched
