// How much of something may be out, all together.
#pragma once

#include <atomic>
#include <cstdint>

namespace slackline::hw {

/// By any threads.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t most) : most_(most) {}

  /// Whether so many bytes more were to be had; then they are taken.
  bool take(std::uint64_t bytes) {
    std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    do {
      if (bytes > most_ - taken) return false;
    } while (!taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::uint64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  std::uint64_t most() const { return most_; }

 private:
  const std::uint64_t most_;
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace slackline::hw
