#include "analysis/synthesis/descend.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/engines/delayed_runs.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/in_threads.h"
#include "analysis/slack/delay_slopes.h"
#include "analysis/synthesis/move_changes.h"
#include "analysis/synthesis/sum_changes.h"
#include "machine/setting.h"

namespace slackline::analysis {
namespace {

constexpr double kFaster = 1e-9;  // of two makespans, less of a difference is rounding
constexpr double kCosts = 1e-3;   // slopes below are rounding, or next to nothing

class Descender {
 public:
  Descender(const CollectiveTask& task, Improvement start, const machine::Platform& platform,
            const machine::Wiring& wiring, const DescentOptions& options)
      : task_(task),
        platform_(platform),
        wiring_(wiring),
        options_(options),
        spreading_(spreading_of(task, start.moves)),
        summing_(summing_of(task)) {
    out_.improvement = std::move(start);
  }

  Descent run() {
    while (!is_over()) {
      if (step()) continue;
      out_.at_end = !is_over();
      break;
    }
    return std::move(out_);
  }

 private:
  bool is_over() const { return out_.runs >= options_.most_runs; }

  // Whether a change was kept.
  bool step() {
    for (const std::uint32_t move : dear_moves()) {
      if (is_over()) return false;
      if (change(move)) return true;
    }
    return false;
  }

  // The dearest first, and of equals the first.
  std::vector<std::uint32_t> dear_moves() const {
    const CollectiveMoves& moves = out_.improvement.moves;
    const sched::Schedule schedule = schedule_of(task_, moves, "");
    const std::vector<std::uint32_t> of_op = moves_of_ops(schedule, task_, moves);
    std::vector<sched::OpId> sends;
    for (std::uint32_t o = 0; o < of_op.size(); ++o) {
      if (of_op[o] != kNoMove) sends.emplace_back(o);
    }
    const machine::Setting setting(schedule, platform_, wiring_);
    const DelayedRuns runs(setting);
    const std::vector<DelaySlope> slopes = delay_slopes(runs, sends, options_.jobs);
    std::vector<double> slope(moves.count(), 0);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      double& most = slope[of_op[sends[i].value]];
      // What the least delay costs at once is dearer than any slope.
      most = std::max(most, slopes[i].at_once_s > 0 ? slopes[i].slope + 1 : slopes[i].slope);
    }
    std::vector<std::uint32_t> dear;
    for (std::uint32_t m = 0; m < slope.size(); ++m) {
      if (slope[m] > kCosts) dear.push_back(m);
    }
    std::stable_sort(dear.begin(), dear.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return slope[a] > slope[b]; });
    return dear;
  }

  std::vector<CollectiveMoves> changes_of(std::uint32_t number) const {
    const CollectiveMoves& now = out_.improvement.moves;
    std::vector<CollectiveMoves> changes;
    if (!now.summing.empty()) {
      for (SumMoves& changed : all_changes(summing_, now.summing, number)) {
        changes.push_back({{}, {}, std::move(changed)});
      }
      return changes;
    }
    const MovePlace place = place_of_move(now, number);
    for (const sched::RankId other : others_with(spreading_, now.*place.half, place.index)) {
      changes.push_back(now);
      (changes.back().*place.half)[place.index].src = other;
    }
    for (const std::size_t before : same_ports_before(now.*place.half, place.index)) {
      CollectiveMoves changed = now;
      go_before(changed.*place.half, place.index, before);
      if (spreads(spreading_, changed.*place.half)) changes.push_back(std::move(changed));
    }
    return changes;
  }

  bool change(std::uint32_t number) {
    std::vector<CollectiveMoves> changes = changes_of(number);
    changes.resize(std::min<std::uint64_t>(changes.size(), options_.most_runs - out_.runs));
    out_.runs += changes.size();
    std::vector<double> makespan_s(changes.size());
    in_threads(static_cast<std::uint32_t>(changes.size()), options_.jobs, [&](std::uint32_t i) {
      const sched::Schedule schedule = schedule_of(task_, changes[i], "");
      makespan_s[i] = run_flows({schedule, platform_, wiring_}).makespan_s();
    });
    const auto best = std::min_element(makespan_s.begin(), makespan_s.end());
    Improvement& mine = out_.improvement;
    if (best == makespan_s.end() || *best >= mine.makespan_s * (1 - kFaster)) return false;
    mine.moves = std::move(changes[static_cast<std::size_t>(best - makespan_s.begin())]);
    mine.makespan_s = *best;
    ++mine.kept;
    ++out_.kept;
    return true;
  }

  const CollectiveTask& task_;
  const machine::Platform& platform_;
  const machine::Wiring& wiring_;
  const DescentOptions& options_;
  const Spreading spreading_;
  const Summing summing_;
  Descent out_;
};

}  // namespace

Descent descend(const CollectiveTask& task, Improvement start, const machine::Platform& platform,
                const machine::Wiring& wiring, const DescentOptions& options) {
  return Descender(task, std::move(start), platform, wiring, options).run();
}

}  // namespace slackline::analysis
