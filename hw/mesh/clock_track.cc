#include "hw/mesh/clock_track.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace slackline::hw {
namespace {

constexpr double kNanosecond = 1e-9;

// Half the round trip, and what is lost by rounding: seconds since a machine's start are no finer
// after a year.
double error_ns(const ClockSample& sample) {
  constexpr double kRounding = 8;
  return static_cast<double>(sample.round_trip_ns()) / 2 * (1 + ClockTrack::kDrift) + kRounding;
}

// Whether both clocks may have shown the same.
bool allows_one_clock(const ClockSample& sample) {
  return sample.asked_ns <= sample.there_ns && sample.there_ns <= sample.answered_ns;
}

}  // namespace

ClockTrack::ClockTrack(std::span<const ClockSample> samples, bool same_host) {
  if (samples.empty()) throw InternalError("a clock of which nothing is known");
  if (same_host && std::ranges::all_of(samples, allows_one_clock)) return;
  base_ns_ = samples.front().there_ns - samples.front().middle_ns();
  for (const ClockSample& sample : worthwhile(samples)) {
    Knot knot{sample.asked_ns, sample.middle_ns(), sample.answered_ns,
              static_cast<double>(sample.there_ns - sample.middle_ns() - base_ns_),
              error_ns(sample)};
    if (!knots_.empty()) {
      // Time does not go back, whatever the other clock does.
      const Knot& last = knots_.back();
      const double least = last.offset_ns - static_cast<double>(knot.at_ns - last.at_ns);
      knot.error_ns += std::max(0.0, least - knot.offset_ns);
      knot.offset_ns = std::max(least, knot.offset_ns);
    }
    knots_.push_back(knot);
    moments_ns_.insert(moments_ns_.end(), {knot.asked_ns, knot.at_ns, knot.answered_ns});
  }
  std::ranges::sort(moments_ns_);
}

// Without those that say less than what is known from before them as well as from after them, as
// some do that were held up. The time between the others is longer for it, and what is said of that
// time holds however long it is.
std::vector<ClockSample> ClockTrack::worthwhile(std::span<const ClockSample> samples) {
  constexpr double kNothing = std::numeric_limits<double>::infinity();
  const auto drift_ns = [&](std::size_t from, std::size_t to) {
    return kDrift * static_cast<double>(samples[to].middle_ns() - samples[from].middle_ns());
  };
  std::vector<double> from_after(samples.size(), kNothing);
  for (std::size_t i = samples.size() - 1; i > 0; --i) {
    from_after[i - 1] = std::min(from_after[i], error_ns(samples[i])) + drift_ns(i - 1, i);
  }
  std::vector<ClockSample> kept;
  double from_before = kNothing;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i > 0) from_before = std::min(from_before, error_ns(samples[i - 1])) + drift_ns(i - 1, i);
    if (error_ns(samples[i]) <= std::max(from_before, from_after[i])) kept.push_back(samples[i]);
  }
  return kept;
}

std::vector<ClockTrack::Knot>::const_iterator ClockTrack::first_after(std::int64_t here_ns) const {
  return std::upper_bound(
      knots_.begin(), knots_.end(), here_ns,
      [](std::int64_t time_ns, const Knot& knot) { return time_ns < knot.at_ns; });
}

ClockOffset ClockTrack::at(std::int64_t here_ns) const {
  if (is_one_clock()) return {};
  const auto after = first_after(here_ns);
  auto first = after == knots_.begin() ? after : after - 1;
  auto last = after == knots_.end() ? after - 1 : after;
  double offset_ns = first->offset_ns;
  if (first != last) {
    const auto span_ns = static_cast<double>(last->at_ns - first->at_ns);
    const auto since_ns = static_cast<double>(here_ns - first->at_ns);
    offset_ns += (last->offset_ns - first->offset_ns) * (since_ns / span_ns);
  }
  // While a question was under way it is not known whether what it tells was so already, or still.
  if (first != knots_.begin() && here_ns <= first->answered_ns) --first;
  if (last + 1 != knots_.end() && here_ns >= last->asked_ns) ++last;
  double error_ns = 0;
  for (auto knot = first; knot <= last; ++knot) {
    const double away_ns = std::abs(static_cast<double>(here_ns - knot->at_ns));
    error_ns = std::max(error_ns,
                        std::abs(offset_ns - knot->offset_ns) + knot->error_ns + kDrift * away_ns);
  }
  return {(static_cast<double>(base_ns_) + offset_ns) * kNanosecond, error_ns * kNanosecond};
}

// Between moments at which another sample begins or ceases to count, the error is the greatest of
// convex curves: greatest right behind the one, or right before the other. A question may be asked
// and answered while another is under way, so that these moments are in no order of the samples.
std::vector<ClockTrack::Span> ClockTrack::errors(std::int64_t begin_ns, std::int64_t end_ns) const {
  std::vector<Span> spans;
  std::int64_t from_ns = begin_ns;
  const auto add_until = [&](std::int64_t until_ns) {
    if (until_ns <= from_ns && !spans.empty()) return;
    spans.push_back({until_ns, std::max(at(std::min(from_ns + 1, until_ns)).error_s,
                                        at(std::max(until_ns - 1, from_ns)).error_s)});
    from_ns = until_ns;
  };
  for (auto moment_ns = std::ranges::upper_bound(moments_ns_, begin_ns);
       moment_ns != moments_ns_.end() && *moment_ns < end_ns; ++moment_ns) {
    add_until(*moment_ns);
  }
  add_until(end_ns);
  return spans;
}

}  // namespace slackline::hw
