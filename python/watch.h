// Work that takes long, and a user who gives it up: Ctrl-C.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "machine/setting.h"

namespace slackline::python {

/// Looks, while a thread of Python works without the interpreter's lock, whether a signal has come
/// that Python's handlers end work for, as that of Ctrl-C does.
class Watch {
 public:
  Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// What runs are watched by (machine::Setting::watched). In the thread that made the watch it
  /// throws what the handler raised, and in others once it has done so there.
  const machine::RunWatch* of_runs() const { return &look_; }

  /// For work that tells how far it is, and tells the thread that made the watch: looks, and calls
  /// `told` with the number if it is not None. Throws what that raises.
  std::function<void(std::uint32_t)> progress(pybind11::object told);  // kept by the watch

 private:
  using Clock = std::chrono::steady_clock;

  void look();
  void ask_python();

  const std::thread::id caller_;
  Clock::time_point looked_;
  std::atomic<bool> ended_ = false;
  const machine::RunWatch look_;
  // Here, and not in the function: that is copied where nobody has the interpreter's lock.
  pybind11::object told_;
};

}  // namespace slackline::python
