// All ranks of a schedule in one process, on transports that can be looked into.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "hw/executor.h"
#include "sched/compile.h"
#include "tests/hw/loop_transport.h"
#include "tests/support/compiled.h"

namespace slackline::testing {

/// Driven by turns.
class LoopRanks {
 public:
  LoopRanks(const sched::Schedule& schedule, Loop& loop) : schedule_(schedule) {
    for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
      transports_.push_back(std::make_unique<LoopTransport>(loop));
    }
  }
  LoopTransport& transport(std::uint32_t rank) { return *transports_[rank]; }
  hw::Executor& executor(std::uint32_t rank) { return *executors_[rank]; }

  void set_up(const std::function<hw::ExecutorOptions(std::uint32_t)>& options = {}) {
    std::vector<hw::Greeting> greetings;
    for (std::uint32_t r = 0; r < schedule_.rank_count(); ++r) {
      executors_.push_back(
          std::make_unique<hw::Executor>(schedule_, sched::RankId(r), *transports_[r],
                                         options ? options(r) : hw::ExecutorOptions()));
      const std::vector<std::byte> packed = hw::pack(executors_[r]->greeting());
      hw::ByteReader reader(packed);
      greetings.push_back(hw::read_greeting(reader));
    }
    for (auto& executor : executors_) executor->connect(greetings);
  }
  void set_up_alike(const hw::ExecutorOptions& options) {
    set_up([&](std::uint32_t) { return options; });
  }
  void begin(hw::Executor::Clock::time_point zero = hw::Executor::Clock::now()) {
    for (auto& executor : executors_) executor->begin(zero);
  }
  bool round() {
    bool moved = false;
    for (auto& executor : executors_) moved = executor->progress() || moved;
    return moved;
  }
  // False if it takes too long.
  bool finish() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      round();
      if (std::ranges::all_of(executors_, [](const auto& e) { return e->finished(); })) return true;
    }
    return false;
  }
  void expect_proved() {
    for (auto& executor : executors_) EXPECT_EQ(executor->first_breach().value_or(""), "");
  }

 private:
  const sched::Schedule& schedule_;
  std::vector<std::unique_ptr<LoopTransport>> transports_;
  std::vector<std::unique_ptr<hw::Executor>> executors_;
};

inline hw::ExecutorOptions plain(std::uint32_t /*rank*/) { return {}; }

}  // namespace slackline::testing
