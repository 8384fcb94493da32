#include "analysis/engines/fluid_series.h"

#include <algorithm>
#include <cmath>

namespace slackline::analysis {
namespace {

// The place `at`, with what is before it.
template <class T>
T& at_or_new(std::vector<T>& all, std::size_t at) {
  if (all.size() <= at) all.resize(at + 1);
  return all[at];
}

// Of each two neighbours one, by `add(first, second)`.
template <class Interval, class Add>
void halve(std::vector<std::vector<Interval>>& all, const Add& add) {
  for (std::vector<Interval>& of : all) {
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (i % 2 == 0) {
        of[i / 2] = of[i];
      } else {
        add(of[i / 2], of[i]);
      }
    }
    of.resize((of.size() + 1) / 2);
  }
}

}  // namespace

void FluidSeries::make_room(double end_s) {
  while (end_s > width_s_ * static_cast<double>(kMost)) {
    width_s_ *= 2;
    halve(queues_, [](QueueInterval& first, const QueueInterval& second) {
      first.byte_s += second.byte_s;
      first.largest_bytes = std::max(first.largest_bytes, second.largest_bytes);
    });
    halve(rates_, [](RateInterval& first, const RateInterval& second) {
      first.bytes += second.bytes;
      if (second.allowed_bytes_per_s != 0) first.allowed_bytes_per_s = second.allowed_bytes_per_s;
    });
  }
}

template <class Add>
void FluidSeries::cut(double begin_s, double step_s, const Add& add) {
  const double end_s = begin_s + step_s;
  make_room(end_s);
  auto interval = static_cast<std::size_t>(begin_s / width_s_);
  for (double from_s = begin_s; from_s < end_s; ++interval) {
    const double until_s = interval + 1 >= kMost
                               ? end_s
                               : std::min(end_s, static_cast<double>(interval + 1) * width_s_);
    // Rounding may put a beginning at the end of the interval before.
    if (until_s <= from_s) continue;
    add(interval, (until_s - from_s) / step_s);
    from_s = until_s;
  }
}

void FluidSeries::queue(machine::LinkId link, double begin_s, double step_s, double bytes) {
  if (bytes <= 0 || step_s <= 0) return;
  at_or_new(queues_, link.value);
  cut(begin_s, step_s, [&](std::size_t interval, double share) {
    QueueInterval& of = at_or_new(queues_[link.value], interval);
    of.byte_s += bytes * share * step_s;
    of.largest_bytes = std::max(of.largest_bytes, bytes);
  });
}

void FluidSeries::sent(std::uint32_t pair, double begin_s, double step_s, double bytes,
                       double allowed_bytes_per_s) {
  if (step_s <= 0) return;
  at_or_new(rates_, pair);
  cut(begin_s, step_s, [&](std::size_t interval, double share) {
    RateInterval& of = at_or_new(rates_[pair], interval);
    of.bytes += bytes * share;
    of.allowed_bytes_per_s = allowed_bytes_per_s;
  });
}

}  // namespace slackline::analysis
