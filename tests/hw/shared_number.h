// A number that forked processes share.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <thread>

namespace slackline::testing {

/// A number that processes share: one tells the others what it has come to.
class SharedNumber {
 public:
  SharedNumber() {
    void* const page = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) std::abort();
    number_ = new (page) std::atomic<int>(0);
  }
  ~SharedNumber() { munmap(number_, sizeof *number_); }
  SharedNumber(const SharedNumber&) = delete;
  SharedNumber& operator=(const SharedNumber&) = delete;

  void set(int value) { number_->store(value); }
  int get() const { return number_->load(); }
  /// Sleeps until it is at least so much.
  void await(int value) const {
    while (get() < value) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::atomic<int>* number_;
};

}  // namespace slackline::testing
