#include "hw/run_clock.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hw/bytes.h"

namespace slackline::hw {
namespace {

std::int64_t nanoseconds_of(RunClock::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// Of a century at most, in either direction: what no number of ticks is, there is none for.
RunClock::Clock::duration duration_of(double seconds) {
  seconds = std::clamp(seconds, -kMostSeconds, kMostSeconds);
  return std::chrono::duration_cast<RunClock::Clock::duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace

RunClock::RunClock(Mesh& mesh) : mesh_(mesh), is_another_(mesh.follow_clock()) {}

RunClock::~RunClock() { mesh_.leave_clock(); }

void RunClock::ask_over(Transport& transport, std::span<const std::uint32_t> asking,
                        std::uint32_t first_channel, TransportClock::Others others) {
  transport_.emplace(mesh_, transport, asking, first_channel, std::move(others));
  ask();
}

void RunClock::ask() {
  if (!transport_) return;
  if (const auto sample = transport_->round()) mesh_.add_clock_sample(*sample);
}

void RunClock::close() {
  if (transport_) transport_->close();
}

RunClock::Clock::time_point RunClock::begin(double start_s) {
  last_.offset_s = mesh_.clock().offset_s;
  last_.at = Clock::time_point(duration_of(start_s - last_.offset_s));
  return last_.at;
}

void RunClock::end() {
  ask();
  track_ = mesh_.followed_clock();
}

double RunClock::put_right(double time_s, std::size_t iteration) const {
  if (track_.is_one_clock() || !std::isfinite(time_s)) return time_s;
  const Begin& begin = begins_[iteration];
  const std::int64_t at_ns = nanoseconds_of(begin.at + duration_of(time_s));
  return std::max(0.0, time_s + (track_.at(at_ns).offset_s - begin.offset_s));
}

void RunClock::put_right(std::span<sched::OpTimes> times, std::size_t iteration) const {
  if (track_.is_one_clock()) return;
  for (sched::OpTimes& t : times) {
    for (double* const time_s : {&t.ready_s, &t.issued_s, &t.wire_s, &t.done_s}) {
      *time_s = put_right(*time_s, iteration);
    }
  }
}

std::vector<ClockErrors::Span> RunClock::errors(std::size_t iteration, double finish_s) const {
  std::vector<ClockErrors::Span> spans;
  if (track_.is_one_clock()) return spans;
  const Clock::time_point at = begins_[iteration].at;
  const std::int64_t begin_ns = nanoseconds_of(at);
  const std::int64_t end_ns = nanoseconds_of(at + duration_of(finish_s)) + 1;
  for (const ClockTrack::Span& span : track_.errors(begin_ns, end_ns)) {
    const double until_s = static_cast<double>(span.until_ns - begin_ns) * 1e-9;
    spans.push_back({put_right(until_s, iteration), span.error_s});
  }
  return spans;
}

}  // namespace slackline::hw
