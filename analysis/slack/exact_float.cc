#include "analysis/slack/exact_float.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "analysis/slack/critical_path.h"
#include "analysis/slack/validate.h"
#include "base/error.h"

namespace slackline::analysis {
namespace {

using sched::OpId;
using sched::Time;

// Into how many a gap is divided at a time.
constexpr std::int64_t kParts = 8;
// Operations whose delays are tried together.
constexpr std::size_t kTogether = 64;

class FloatSearch {
 public:
  FloatSearch(OpId op, Time longest) : op_(op) {
    found_.costs_from = longest;
    // Longer than the run: the operation itself ends too late.
    for (Time by = longest; by.count() > 0; by /= 2) next_.push_back(by);
    std::reverse(next_.begin(), next_.end());
  }

  OpId op() const { return op_; }
  const ExactFloat& found() const { return found_; }
  /// The delays to try now, in order; none if nothing is left to find out.
  const std::vector<Time>& next() const { return next_; }

  void learn(std::span<const double> cost_s, double rounding_s, Time resolution) {
    bool free_so_far = true;
    for (std::size_t i = 0; i < next_.size(); ++i) {
      const bool costs = cost_s[i] > rounding_s;
      if (!costs) found_.largest_free = std::max(found_.largest_free, next_[i]);
      if (!free_so_far) continue;
      free_so_far = !costs;
      (costs ? found_.costs_from : found_.free_until) = next_[i];
    }
    next_.clear();
    const std::int64_t gap = (found_.costs_from - found_.free_until).count();
    if (gap <= resolution.count()) return;
    for (std::int64_t part = 1; part < kParts; ++part) {
      const Time by = found_.free_until + Time{gap / kParts * part + gap % kParts * part / kParts};
      if (by > found_.free_until && (next_.empty() || by > next_.back())) next_.push_back(by);
    }
  }

 private:
  OpId op_;
  ExactFloat found_;
  std::vector<Time> next_;
};

}  // namespace

Time float_resolution(double makespan_s) {
  return Time{std::max<std::int64_t>(1, std::llround(std::ceil(rounding_s(makespan_s) * 1e12)))};
}

std::vector<ExactFloat> exact_floats(const DelayedRuns& runs, std::span<const OpId> ops,
                                     std::uint32_t jobs,
                                     const std::function<void(std::uint32_t)>& progress) {
  const std::uint32_t all = runs.setting().schedule.op_count();
  for (const OpId op : ops) {
    if (op.value < all) continue;
    throw InputError(fmt::format("op {} does not exist; expected one below {}", op.value, all));
  }
  const double makespan_s = runs.undelayed().makespan_s();
  const Time resolution = float_resolution(makespan_s);
  const Time longest = Time{std::llround(std::ceil(makespan_s * 1e12))} + 2 * resolution;
  std::vector<ExactFloat> floats;
  while (floats.size() < ops.size()) {
    std::vector<FloatSearch> searches;
    for (std::size_t i = floats.size(); i < ops.size() && searches.size() < kTogether; ++i) {
      searches.emplace_back(ops[i], longest);
    }
    for (;;) {
      std::vector<machine::OpDelay> trials;
      for (const FloatSearch& search : searches) {
        for (const Time by : search.next()) {
          trials.push_back(trial_of(runs.setting(), search.op(), by));
        }
      }
      if (trials.empty()) break;
      std::vector<double> cost_s = runs.makespans_s(trials, jobs);
      for (double& c_s : cost_s) c_s -= makespan_s;
      std::size_t first = 0;
      for (FloatSearch& search : searches) {
        const std::size_t count = search.next().size();
        if (count == 0) continue;
        search.learn(std::span(cost_s).subspan(first, count), rounding_s(makespan_s), resolution);
        first += count;
      }
    }
    for (const FloatSearch& search : searches) floats.push_back(search.found());
    if (progress) progress(static_cast<std::uint32_t>(floats.size()));
  }
  return floats;
}

}  // namespace slackline::analysis
