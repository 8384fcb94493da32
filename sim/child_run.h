// A computation in a forked child that fills shared memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace slackline::sim {

/// Anonymous memory that a process shares with the children it forks. Zero at first.
class SharedMemory {
 public:
  /// Throws EnvironmentError if there is none to be had.
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  void* data() const { return data_; }

 private:
  void* data_;
  std::size_t bytes_;
};

/// Runs `work` in a child and waits for it. What the child throws is thrown here again, with its
/// kind; a child that dies is an InternalError that says how. Throws EnvironmentError if there can
/// be no child.
void run_in_child(const std::function<void()>& work);

}  // namespace slackline::sim
