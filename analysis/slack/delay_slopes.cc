#include "analysis/slack/delay_slopes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "analysis/slack/validate.h"
#include "machine/event_queue.h"

namespace slackline::analysis {
namespace {

// Up to which a makespan may be off by rounding, as a share of it: sums of some thousand terms.
constexpr double kRounding = 2e-14;
// What comes less than an instant apart comes together. More than some instants are no rounding.
constexpr double kInstants_s = 10 * machine::kInstant_s;

// The digits after the point, or fewer than none before it, of which `within` is less than one.
double digits_above(double within) { return std::floor(-std::log10(within)); }

// To so many digits; 0 has no sign.
double rounded(double value, double digits) {
  const double scale = std::pow(10.0, digits);
  return std::floor(value * scale + 0.5) / scale + 0.0;
}

}  // namespace

// What is small and what is at once are told apart by costs on one line: c(ε) = at once + slope·ε.
DelaySlope slope_through(sched::Time by, double c1_s, double c2_s, double c3_s, double rounding_s) {
  const double half_s = c1_s - c2_s;
  const double quarter_s = c2_s - c3_s;
  // Three differences, each of two costs.
  if (!(std::abs(half_s - 2 * quarter_s) <= 6 * rounding_s)) return {};
  DelaySlope found;
  found.up_to = by;
  const double by_s = sched::seconds(by);
  const double at_once_s = c1_s - 2 * half_s;
  // Through no delay, which costs nothing, the slope has less rounding.
  const bool through_0 = std::abs(at_once_s) <= 4 * rounding_s;
  const double digits = digits_above((through_0 ? 1 : 4) * rounding_s / by_s);
  found.within = std::pow(10.0, -digits);
  found.slope = rounded((through_0 ? c1_s : 2 * half_s) / by_s, digits);
  if (std::abs(at_once_s) > kInstants_s) {
    found.at_once_s = rounded(at_once_s, digits_above(4 * rounding_s));
  }
  return found;
}

std::vector<DelaySlope> delay_slopes(const DelayedRuns& runs, std::span<const sched::OpId> ops,
                                     std::uint32_t jobs,
                                     const std::function<void(std::uint32_t)>& progress) {
  const double makespan_s = runs.undelayed().makespan_s();
  // An empty run has no rounding either.
  const double rounding_s = std::max(kRounding * makespan_s, 1e-24);
  std::vector<DelaySlope> slopes(ops.size());
  // Of every operation that is not settled, what the last three delays cost.
  struct Costs {
    std::size_t place;
    double c1_s, c2_s, c3_s;
  };
  std::vector<Costs> open;
  for (std::size_t i = 0; i < ops.size(); ++i) open.push_back({i, 0, 0, 0});
  std::uint32_t tried = 0;
  for (sched::Time by = kLargestSmallDelay; by >= kLeastSmallDelay && !open.empty(); by /= 2) {
    std::vector<machine::OpDelay> trials;
    for (const Costs& costs : open) {
      trials.push_back(trial_of(runs.setting(), ops[costs.place], by));
    }
    const std::vector<double> delayed_s = runs.makespans_s(trials, jobs, progress);
    ++tried;
    std::vector<Costs> still_open;
    std::vector<Costs> jumps;
    for (std::size_t i = 0; i < open.size(); ++i) {
      Costs costs{open[i].place, open[i].c2_s, open[i].c3_s, delayed_s[i] - makespan_s};
      if (tried >= 3) {
        const DelaySlope found =
            slope_through(4 * by, costs.c1_s, costs.c2_s, costs.c3_s, rounding_s);
        if (found.settled()) {
          slopes[costs.place] = found;
          if (found.at_once_s != 0 && by > kLeastSmallDelay) jumps.push_back(costs);
          continue;
        }
      }
      still_open.push_back(costs);
    }
    // Costs that come and go may agree on a line by chance. The least delay has the last word of
    // what is said of it.
    trials.clear();
    for (const Costs& costs : jumps) {
      trials.push_back(trial_of(runs.setting(), ops[costs.place], kLeastSmallDelay));
    }
    const std::vector<double> least_s =
        jumps.empty() ? std::vector<double>{} : runs.makespans_s(trials, jobs);
    for (std::size_t i = 0; i < jumps.size(); ++i) {
      DelaySlope& found = slopes[jumps[i].place];
      const double foretold_s = found.at_once_s + found.slope * sched::seconds(kLeastSmallDelay);
      if (std::abs(least_s[i] - makespan_s - foretold_s) <= machine::kInstant_s + 60 * rounding_s) {
        continue;
      }
      found = {};
      still_open.push_back(jumps[i]);
    }
    std::sort(still_open.begin(), still_open.end(),
              [](const Costs& a, const Costs& b) { return a.place < b.place; });
    open = std::move(still_open);
  }
  return slopes;
}

}  // namespace slackline::analysis
