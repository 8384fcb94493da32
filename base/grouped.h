// Values sorted by the group that each belongs to, in one piece of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace slackline::base {

/// The values of a group keep the order in which they came. `Index` counts all values.
template <class Value, class Index = std::uint32_t>
class Grouped {
 public:
  Grouped() = default;

  /// `each(take)` calls take(group, value) for every value, with groups below `groups`. It is
  /// called twice, first to count, and must do the same both times.
  template <class Each>
  Grouped(std::size_t groups, const Each& each) : begin_(groups + 1, 0) {
    each([this](std::size_t group, const Value&) { ++begin_[group + 1]; });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    values_.resize(begin_.back());
    std::vector<Index> next(begin_.begin(), begin_.end() - 1);
    each([&](std::size_t group, const Value& value) { values_[next[group]++] = value; });
  }

  std::size_t groups() const { return begin_.empty() ? 0 : begin_.size() - 1; }
  std::span<const Value> operator[](std::size_t group) const {
    return {values_.data() + begin_[group], values_.data() + begin_[group + 1]};
  }
  std::span<Value> operator[](std::size_t group) {
    return {values_.data() + begin_[group], values_.data() + begin_[group + 1]};
  }
  /// Group by group.
  std::span<const Value> all() const { return values_; }

 private:
  std::vector<Index> begin_;  // by group, and the end
  std::vector<Value> values_;
};

}  // namespace slackline::base
