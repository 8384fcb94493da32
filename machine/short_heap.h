// A priority queue for many queues of which each mostly holds one item.
#pragma once

#include <cstddef>
#include <vector>

#include "machine/heap.h"

namespace slackline::machine {

/// As Heap. The least stands in the object itself, and only what is behind it has memory of its
/// own: so whoever has the queue in a line of its cache has the least, too.
template <class T, class Before>
class ShortHeap {
 public:
  bool empty() const { return !any_; }
  std::size_t size() const { return any_ ? 1 + others_.size() : 0; }
  /// The least; there must be one.
  const T& top() const { return least_; }
  /// In no order.
  std::vector<T> items() const {
    std::vector<T> all(others_.items().begin(), others_.items().end());
    if (any_) all.push_back(least_);
    return all;
  }

  void push(const T& item) {
    if (!any_) {
      any_ = true;
      least_ = item;
    } else if (Before{}(item, least_)) {
      others_.push(least_);
      least_ = item;
    } else {
      others_.push(item);
    }
  }

  /// Takes the least out; there must be one.
  T pop() {
    const T least = least_;
    if (others_.empty()) {
      any_ = false;
    } else {
      least_ = others_.pop();
    }
    return least;
  }

 private:
  Heap<T, Before> others_;
  T least_{};
  bool any_ = false;
};

}  // namespace slackline::machine
