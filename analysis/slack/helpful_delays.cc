#include "analysis/slack/helpful_delays.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "analysis/engines/delayed_runs.h"
#include "analysis/slack/critical_path.h"
#include "analysis/slack/delay_slopes.h"
#include "analysis/slack/validate.h"

namespace slackline::analysis {
namespace {

using sched::OpId;
using sched::Time;

// Of either kind: those with the best slope, and those with the best price.
constexpr std::size_t kMostCandidates = 12;
constexpr int kSizes = 10;
constexpr double kPricedShare = 0.01;  // of the makespan

// Two digits are easier to read, and as good.
Time readable(double time_s) {
  const double picoseconds = std::max(1.0, time_s * 1e12);
  const double unit = std::max(1.0, std::pow(10.0, std::floor(std::log10(picoseconds)) - 1));
  return Time{std::llround(std::floor(picoseconds / unit + 0.5) * unit)};
}

// From an eighth of the makespan on, each half of the one before.
std::vector<Time> sizes_for(double makespan_s) {
  std::vector<Time> sizes;
  double size_s = makespan_s / 8;
  for (int i = 0; i < kSizes; ++i, size_s /= 2) sizes.push_back(readable(size_s));
  return sizes;
}

// Up to kMostCandidates, the least gain first, of those below −`rounding`.
void add_best(const std::vector<double>& gains, double rounding, std::vector<OpId>& candidates) {
  std::vector<std::pair<double, std::uint32_t>> best;
  for (std::uint32_t i = 0; i < gains.size(); ++i) {
    if (gains[i] < -rounding) best.emplace_back(gains[i], i);
  }
  std::sort(best.begin(), best.end());
  if (best.size() > kMostCandidates) best.resize(kMostCandidates);
  for (const auto& [gain, op] : best) candidates.emplace_back(op);
}

class Search {
 public:
  explicit Search(const DelaySearch& search) : search_(search), plan_(search.setting.delays) {}

  HelpfulDelays run(std::uint32_t most) {
    DelayedRuns runs = runs_now();
    found_.makespan_s = runs.undelayed().makespan_s();
    sizes_ = sizes_for(found_.makespan_s);
    find_candidates(runs);
    if (candidates_.empty()) return found_;
    double makespan_s = found_.makespan_s;
    for (std::uint32_t round = 0; round < most; ++round) {
      const std::vector<HelpfulDelay> best =
          best_of_each(round == 0 ? std::move(runs) : runs_now(), makespan_s, round);
      if (round == 0) found_.singles = best;
      if (best.empty()) break;
      makespan_s = best.front().makespan_s;
      plan_.ops.push_back(best.front().delay);
      found_.together.push_back(best.front());
    }
    return found_;
  }

 private:
  DelayedRuns runs_now() const { return DelayedRuns(search_.setting.with(plan_)); }

  std::vector<double> makespans_s(const DelayedRuns& runs,
                                  const std::vector<machine::OpDelay>& trials,
                                  std::string_view what) {
    found_.runs += trials.size();
    return runs.makespans_s(trials, search_.jobs, [&](std::uint32_t done) {
      if (search_.progress) search_.progress(what, done, trials.size());
    });
  }

  void find_candidates(const DelayedRuns& runs) {
    const double makespan_s = found_.makespan_s;
    std::vector<OpId> all;
    for (std::uint32_t i = 0; i < search_.setting.schedule.op_count(); ++i) all.emplace_back(i);
    std::vector<double> gains;
    for (const DelaySlope& slope : delay_slopes(runs, all, search_.jobs, [&](std::uint32_t done) {
           if (search_.progress) search_.progress("looking for slopes", done, all.size());
         })) {
      gains.push_back(slope.at_once_s + slope.slope * sched::seconds(kLargestSmallDelay));
    }
    found_.runs += 3 * all.size();
    add_best(gains, rounding_s(makespan_s), candidates_);
    const std::vector<double> priced_s =
        makespans_s(runs, trials_of_all(search_.setting, readable(kPricedShare * makespan_s)),
                    "pricing each operation");
    for (std::size_t i = 0; i < priced_s.size(); ++i) gains[i] = priced_s[i] - makespan_s;
    add_best(gains, rounding_s(makespan_s), candidates_);
    std::sort(candidates_.begin(), candidates_.end());
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
  }

  // What makes the run shorter than `makespan_s`, best first.
  std::vector<HelpfulDelay> best_of_each(const DelayedRuns& runs, double makespan_s,
                                         std::uint32_t round) {
    std::vector<machine::OpDelay> trials;
    for (const OpId op : candidates_) {
      for (const Time size : sizes_) {
        trials.push_back(trial_of(search_.setting, op, size));
      }
    }
    const std::vector<double> delayed_s =
        makespans_s(runs, trials, round == 0 ? "trying delays" : "combining delays");
    const double shorter_s = makespan_s - rounding_s(makespan_s);
    std::vector<HelpfulDelay> best;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      // Of those that are as good the shortest.
      std::size_t least = c * sizes_.size();
      for (std::size_t i = least; i < (c + 1) * sizes_.size(); ++i) {
        if (delayed_s[i] <= delayed_s[least]) least = i;
      }
      if (!(delayed_s[least] < shorter_s)) continue;
      const machine::OpDelay& trial = trials[least];
      best.push_back(
          {{trial.op, trial.by, trial.whole_lane, sched::RankId::none()}, delayed_s[least]});
    }
    std::stable_sort(best.begin(), best.end(), [](const HelpfulDelay& a, const HelpfulDelay& b) {
      return a.makespan_s < b.makespan_s;
    });
    return best;
  }

  const DelaySearch& search_;
  machine::DelayPlan plan_;
  HelpfulDelays found_;
  std::vector<Time> sizes_;
  std::vector<OpId> candidates_;
};

}  // namespace

HelpfulDelays helpful_delays(const DelaySearch& search, std::uint32_t most) {
  return Search(search).run(most);
}

}  // namespace slackline::analysis
