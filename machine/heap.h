// A priority queue of small values. Four children to a node: half the levels of a binary heap, and
// the four stand in one or two cache lines.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace slackline::machine {

/// `before(a, b)` is a strict weak order, the least comes first. Equal ones come in any order, the
/// same in every run.
template <class T, class Before>
class Heap {
 public:
  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  void clear() { items_.clear(); }
  /// In no order.
  std::span<const T> items() const { return items_; }
  /// The least; there must be one.
  const T& top() const { return items_.front(); }

  void push(const T& item) {
    std::size_t hole = items_.size();
    items_.push_back(item);
    while (hole != 0) {
      const std::size_t parent = (hole - 1) / kChildren;
      if (!Before{}(item, items_[parent])) break;
      items_[hole] = items_[parent];
      hole = parent;
    }
    items_[hole] = item;
  }

  /// Takes the least out; there must be one.
  T pop() {
    const T least = items_.front();
    const T last = items_.back();
    items_.pop_back();
    if (!items_.empty()) replace_top(last);
    return least;
  }

  /// `item` takes the place of the least; there must be one.
  void replace_top(const T& item) {
    const std::size_t size = items_.size();
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = kChildren * hole + 1;
      if (first >= size) break;
      const std::size_t end = first + kChildren < size ? first + kChildren : size;
      std::size_t child = first;
      for (std::size_t i = first + 1; i < end; ++i) {
        if (Before{}(items_[i], items_[child])) child = i;
      }
      if (!Before{}(items_[child], item)) break;
      items_[hole] = items_[child];
      hole = child;
    }
    items_[hole] = item;
  }

 private:
  static constexpr std::size_t kChildren = 4;
  std::vector<T> items_;
};

}  // namespace slackline::machine
