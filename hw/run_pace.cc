#include "hw/run_pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "hw/bytes.h"

namespace slackline::hw {
namespace {

using std::chrono::milliseconds;

// Between the word to start and the start.
constexpr double kLead_s = 0.001;
// In that time two clocks drift apart by about what the shortest round trips leave open.
constexpr milliseconds kAskClockEvery{100};

}  // namespace

RunPace::RunPace(const RunOptions& options) : options_(options) {
  if (options.iterations == 0) throw InputError("iterations: 0; expected at least 1");
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (options.iterations > kMost - options.warm_up) {
    throw InputError(fmt::format("iterations: {}, after {} to warm up; expected fewer than 2^32",
                                 options.iterations, options.warm_up));
  }
  if (options.duration < milliseconds::zero() || options.duration > kLongestDuration) {
    throw InputError(fmt::format("duration: {} ms; expected 0 to {}", options.duration.count(),
                                 milliseconds(kLongestDuration).count()));
  }
}

RunStart RunPace::next(std::uint32_t iteration, Clock::time_point now) {
  if (iteration == options_.warm_up) warm_since_ = now;
  RunStart start;
  start.at_s = std::chrono::duration<double>(now.time_since_epoch()).count() + kLead_s;
  start.counts = iteration >= options_.warm_up;
  start.last = by_time() ? start.counts && now - warm_since_ >= options_.duration
                         : iteration + 1 == options_.warm_up + options_.iterations;
  if (iteration == 0) asked_clock_ = now;
  // After the last they are asked in any case.
  start.asks_clock = !start.last && now - asked_clock_ >= kAskClockEvery;
  if (start.asks_clock) asked_clock_ = now;
  return start;
}

void RunPace::tell(const RunProgress& progress, std::uint32_t done, Clock::time_point now) const {
  if (!progress) return;
  if (!by_time()) return progress(done, options_.warm_up + options_.iterations);
  const auto passed = done > options_.warm_up
                          ? std::chrono::duration_cast<milliseconds>(now - warm_since_)
                          : milliseconds::zero();
  progress(static_cast<std::uint32_t>(std::min(passed, options_.duration).count()),
           static_cast<std::uint32_t>(options_.duration.count()));
}

}  // namespace slackline::hw
