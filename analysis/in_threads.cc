#include "analysis/in_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace slackline::analysis {

void in_threads(std::uint32_t count, std::uint32_t jobs,
                const std::function<void(std::uint32_t)>& work,
                const std::function<void(std::uint32_t done)>& progress) {
  std::atomic<std::uint32_t> next{0};
  std::mutex mutex;  // of what follows
  std::condition_variable changed;
  std::uint32_t done = 0;
  std::uint32_t working = std::min(std::max(1u, jobs), count);
  std::uint32_t thrown_at = count;
  std::exception_ptr thrown;

  const auto take = [&] {
    for (std::uint32_t i = next++; i < count; i = next++) {
      std::exception_ptr error;
      try {
        work(i);
      } catch (...) {
        error = std::current_exception();
        next = count;
      }
      const std::lock_guard lock(mutex);
      if (error && i < thrown_at) {
        thrown_at = i;
        thrown = error;
      }
      ++done;
      changed.notify_one();
    }
    const std::lock_guard lock(mutex);
    --working;
    changed.notify_one();
  };

  std::vector<std::thread> threads;
  for (std::uint32_t t = working; t > 0; --t) threads.emplace_back(take);
  std::exception_ptr given_up;
  {
    std::unique_lock lock(mutex);
    while (working > 0) {
      changed.wait_for(lock, std::chrono::milliseconds(100));
      if (!progress || working == 0 || given_up) continue;
      try {
        progress(done);
      } catch (...) {
        given_up = std::current_exception();
        next = count;
      }
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (given_up) std::rethrow_exception(given_up);
  // The threads may have ended before this one was woken once.
  if (progress) progress(done);
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace slackline::analysis
