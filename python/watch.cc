#include "python/watch.h"

#include <utility>

#include "base/error.h"

namespace slackline::python {
namespace {

namespace py = pybind11;

// Who waits notices no more than that, and whoever has the interpreter's lock is not asked for it
// more often.
constexpr std::chrono::milliseconds kBetweenLooks{50};

}  // namespace

Watch::Watch()
    : caller_(std::this_thread::get_id()), looked_(Clock::now()), look_([this] { look(); }) {}

void Watch::look() {
  if (std::this_thread::get_id() != caller_) {
    // Whoever waits for this thread throws what the handler raised, and not this.
    if (ended_) throw InternalError("given up");
    return;
  }
  const Clock::time_point now = Clock::now();
  if (now - looked_ < kBetweenLooks) return;
  looked_ = now;
  const py::gil_scoped_acquire lock;
  ask_python();
}

void Watch::ask_python() {
  if (PyErr_CheckSignals() == 0) return;
  ended_ = true;
  throw py::error_already_set();
}

std::function<void(std::uint32_t)> Watch::progress(py::object told) {
  told_ = std::move(told);
  return [this](std::uint32_t done) {
    const py::gil_scoped_acquire lock;
    ask_python();
    if (told_.is_none()) return;
    try {
      told_(done);
    } catch (const py::error_already_set&) {
      ended_ = true;
      throw;
    }
  };
}

}  // namespace slackline::python
