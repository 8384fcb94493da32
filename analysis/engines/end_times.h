// A time for each of some slots, and the least of all: a tree in which each node has the lesser of
// its two children. What is set is carried up when the least is asked for: a few paths one by one,
// many in one sweep over the tree. What is over is taken out in one walk over the nodes that have
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace slackline::analysis {

class EndTimes {
 public:
  /// Infinity: the slot has no time. Slots are numbered from 0, without large holes.
  void set(std::uint32_t slot, double time_s) {
    if (slot >= leaves_) grow(slot);
    times_s_[leaves_ + slot] = time_s;
    set_.push_back(slot);
  }

  /// Infinity if no slot has a time.
  double least_s() {
    settle();
    return times_s_[1];
  }
  /// Takes out every time before `until_s`, and `until_s` itself if `with_equal`; calls
  /// visit(slot, time_s) for each, in order of slots.
  template <class Visit>
  void take(double until_s, bool with_equal, Visit&& visit) {
    const auto is_over = [&](double time_s) {
      return time_s < until_s || (with_equal && time_s == until_s);
    };
    if (is_over(least_s())) take_below(1, is_over, visit);
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kFewShare = 16;

  double least_below(std::size_t node) const {
    return std::min(times_s_[2 * node], times_s_[2 * node + 1]);
  }
  // The node has a time that is over.
  template <class IsOver, class Visit>
  void take_below(std::size_t node, const IsOver& is_over, Visit& visit) {
    if (node >= leaves_) {
      visit(static_cast<std::uint32_t>(node - leaves_), times_s_[node]);
      times_s_[node] = kNever;
      return;
    }
    for (const std::size_t child : {2 * node, 2 * node + 1}) {
      if (is_over(times_s_[child])) take_below(child, is_over, visit);
    }
    times_s_[node] = least_below(node);
  }
  void settle() {
    if (set_.size() * kFewShare > leaves_) {
      for (std::size_t node = leaves_ - 1; node != 0; --node) times_s_[node] = least_below(node);
    } else {
      for (const std::uint32_t slot : set_) {
        for (std::size_t node = (leaves_ + slot) / 2; node != 0; node /= 2) {
          const double least = least_below(node);
          if (times_s_[node] == least) break;
          times_s_[node] = least;
        }
      }
    }
    set_.clear();
  }
  void grow(std::uint32_t slot) {
    std::size_t leaves = 2 * leaves_;
    while (leaves <= slot) leaves *= 2;
    std::vector<double> times_s(2 * leaves, kNever);
    std::copy(times_s_.begin() + static_cast<std::ptrdiff_t>(leaves_), times_s_.end(),
              times_s.begin() + static_cast<std::ptrdiff_t>(leaves));
    for (std::size_t node = leaves - 1; node != 0; --node) {
      times_s[node] = std::min(times_s[2 * node], times_s[2 * node + 1]);
    }
    times_s_.swap(times_s);
    leaves_ = leaves;
  }

  std::size_t leaves_ = 2;
  std::vector<double> times_s_ = std::vector<double>(4, kNever);  // the root at 1, leaves last
  std::vector<std::uint32_t> set_;                                // slots, since the tree was right
};

}  // namespace slackline::analysis
