// A list whose first items stand in itself: where most lists are short, going to one of them
// touches one place in memory and not two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace slackline::analysis {

/// Items are values without owners. Up to `kFew` of them need no other memory.
template <class T, std::size_t kFew>
class FirstFew {
 public:
  std::uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::uint32_t n) { return n < kFew ? few_[n] : more_[n - kFew]; }
  const T& operator[](std::uint32_t n) const { return n < kFew ? few_[n] : more_[n - kFew]; }
  const T& back() const { return (*this)[size_ - 1]; }

  void push_back(const T& item) {
    if (size_ < kFew) {
      few_[size_] = item;
    } else {
      more_.push_back(item);
    }
    ++size_;
  }
  /// There must be one.
  void pop_back() {
    if (size_ > kFew) more_.pop_back();
    --size_;
  }
  /// Calls visit(item) for each, in order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::uint32_t n = 0; n < size_ && n < kFew; ++n) visit(few_[n]);
    for (const T& item : more_) visit(item);
  }

 private:
  std::uint32_t size_ = 0;
  std::array<T, kFew> few_{};
  std::vector<T> more_;
};

}  // namespace slackline::analysis
