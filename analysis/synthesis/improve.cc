#include "analysis/synthesis/improve.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "analysis/engines/flow_engine.h"
#include "analysis/slack/timed_slack.h"
#include "analysis/synthesis/move_changes.h"
#include "analysis/synthesis/sum_changes.h"
#include "base/error.h"
#include "base/mix.h"

namespace slackline::analysis {
namespace {

using sched::RankId;

// Of two makespans, less of a difference is rounding.
constexpr double kFaster = 1e-9;
constexpr std::uint32_t kMostChanges = 3;  // at once

class Improver {
 public:
  Improver(const CollectiveTask& task, Improvement start, const machine::Platform& platform,
           const machine::Wiring& wiring, std::uint64_t seed)
      : task_(task),
        platform_(platform),
        wiring_(wiring),
        spreading_(spreading_of(task, start.moves)),
        summing_(summing_of(task)),
        seed_(seed),
        best_(std::move(start)) {}

  // False where there is nothing to change.
  bool look() {
    const sched::Schedule schedule = schedule_of(task_, best_.moves, "");
    const machine::Setting setting(schedule, platform_, wiring_);
    const sched::Trace trace = run_flows(setting);
    ends_s_ = ends_of(schedule, trace);
    TimedSlack slack;
    try {
      slack = slack_of_run(setting, trace);
    } catch (const Unsupported&) {
      return false;
    }
    const std::vector<std::uint32_t> of_op = moves_of_ops(schedule, task_, best_.moves);
    float_s_.assign(best_.moves.count(), 0);
    for (std::uint32_t o = 0; o < of_op.size(); ++o) {
      if (of_op[o] != kNoMove) float_s_[of_op[o]] = slack.total_float_s[o];
    }
    critical_.clear();
    for (const sched::OpId op : slack.critical_path) {
      const sched::OpId match = schedule.op(op).match;
      for (const sched::OpId end : {op, match}) {
        if (end.valid() && of_op[end.value] != kNoMove) critical_.push_back(of_op[end.value]);
      }
    }
    std::sort(critical_.begin(), critical_.end());
    critical_.erase(std::unique(critical_.begin(), critical_.end()), critical_.end());
    return !critical_.empty();
  }

  // Whether the change was kept.
  bool attempt(std::uint64_t number) {
    CollectiveMoves changed = best_.moves;
    const std::uint32_t changes = 1 + below(number, 0, kMostChanges);
    std::uint32_t made = 0;
    for (std::uint32_t i = 0; i < changes; ++i) made += change(changed, number, i + 1) ? 1 : 0;
    if (made == 0 || !is_right(changed)) return false;
    const sched::Schedule schedule = schedule_of(task_, changed, "");
    const sched::Trace trace = run_flows({schedule, platform_, wiring_});
    const double makespan_s = trace.makespan_s();
    const double ends_s = ends_of(schedule, trace);
    const bool faster = makespan_s < best_.makespan_s * (1 - kFaster);
    const bool calmer = makespan_s <= best_.makespan_s && ends_s < ends_s_ * (1 - kFaster);
    if (!faster && !calmer) return false;
    best_ = {std::move(changed), makespan_s, best_.kept + 1};
    return true;
  }

  Improvement take() { return std::move(best_); }

 private:
  std::uint32_t below(std::uint64_t number, std::uint64_t what, std::size_t bound) const {
    return sched::below(sched::draw(seed_, {number, what}), static_cast<std::uint32_t>(bound));
  }

  bool is_right(const CollectiveMoves& moves) const {
    if (!moves.summing.empty()) return sums(summing_, moves.summing);
    return (moves.reducing.empty() || spreads(spreading_, moves.reducing)) &&
           (moves.spreading.empty() || spreads(spreading_, moves.spreading));
  }

  // Changes a move that is critical in the best run. After other changes its place may have another
  // one, which does as well.
  bool change(CollectiveMoves& changed, std::uint64_t number, std::uint64_t nth) const {
    const auto draw = [&](std::uint64_t what, std::size_t bound) {
      return below(number, 4 * nth + what, bound);
    };
    const std::uint32_t critical = critical_[draw(0, critical_.size())];
    if (!changed.summing.empty()) {
      if (critical >= changed.summing.size()) return false;
      // As often as the others below; what has no draw, less often.
      static constexpr SumChange kChanges[] = {
          SumChange::kSource,  SumChange::kSource,  SumChange::kTarget, SumChange::kEarlier,
          SumChange::kEarlier, SumChange::kEarlier, SumChange::kBehind, SumChange::kExchange,
          SumChange::kSplit,   SumChange::kJoin,
      };
      return analysis::change(task_.ranks, changed.summing, critical,
                              kChanges[draw(2, std::size(kChanges))], draw(3, 1u << 16));
    }
    const MovePlace place = place_of_move(best_.moves, critical);
    Moves& half = changed.*place.half;
    if (place.index >= half.size()) return false;
    const bool by_float = draw(1, 2) == 0;
    const std::uint32_t drawn = draw(3, 1u << 16);
    switch (draw(2, 8)) {
      case 0:
      case 1:
      case 2:
        return change_source(place, half, by_float, drawn);
      case 3:
      case 4:
      case 5:
        return go_earlier(place, half, by_float, drawn);
      case 6:
        return split(half, place.index);
      default:
        return join(half, place.index);
    }
  }

  // When the ranks have nothing more to do, added up.
  static double ends_of(const sched::Schedule& schedule, const sched::Trace& trace) {
    double sum_s = 0;
    for (std::uint32_t r = 0; r < schedule.rank_count(); ++r) {
      double end_s = 0;
      for (std::uint32_t o = schedule.first_op(RankId(r)).value;
           o < schedule.end_op(RankId(r)).value; ++o) {
        end_s = std::max(end_s, trace.ops[o].done_s);
      }
      sum_s += end_s;
    }
    return sum_s;
  }

  // The other way round.
  std::size_t number_of(const MovePlace& place) const {
    const std::size_t reducing = best_.moves.reducing.size();
    return place.half == &CollectiveMoves::reducing ? reducing - 1 - place.index
                                                    : reducing + place.index;
  }

  bool change_source(const MovePlace& place, Moves& half, bool by_float, std::size_t drawn) const {
    const std::vector<RankId> others = others_with(spreading_, half, place.index);
    if (others.empty()) return false;
    const auto less = [&](RankId a, RankId b) {
      return next_float_s(place, a) < next_float_s(place, b);
    };
    half[place.index].src = by_float ? *std::max_element(others.begin(), others.end(), less)
                                     : others[drawn % others.size()];
    return true;
  }

  bool go_earlier(const MovePlace& place, Moves& half, bool by_float, std::size_t drawn) const {
    const std::vector<std::size_t> earlier = same_ports_before(half, place.index);
    if (earlier.empty()) return false;
    std::size_t before = earlier[drawn % earlier.size()];
    if (by_float) {
      const auto slack = std::find_if(earlier.begin(), earlier.end(), [&](std::size_t i) {
        return i < (best_.moves.*place.half).size() &&
               float_s_[number_of({place.half, i})] > best_.makespan_s * kFaster;
      });
      if (slack != earlier.end()) before = *slack;
    }
    go_before(half, place.index, before);
    return true;
  }

  static bool split(Moves& half, std::size_t index) {
    if (half[index].units.size() < 2) return false;
    Move second = half[index];
    const auto middle = static_cast<std::ptrdiff_t>(second.units.size() / 2);
    half[index].units.resize(static_cast<std::size_t>(middle));
    second.units.erase(second.units.begin(), second.units.begin() + middle);
    half.insert(half.begin() + static_cast<std::ptrdiff_t>(index) + 1, std::move(second));
    return true;
  }

  static bool join(Moves& half, std::size_t index) {
    for (std::size_t i = index + 1; i < half.size(); ++i) {
      if (half[i].src != half[index].src || half[i].dst != half[index].dst) continue;
      std::vector<std::uint32_t>& units = half[index].units;
      units.insert(units.end(), half[i].units.begin(), half[i].units.end());
      std::sort(units.begin(), units.end());
      half.erase(half.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }

  // The float of what the rank sends next; infinity if that is nothing.
  double next_float_s(const MovePlace& place, RankId rank) const {
    const Moves& half = best_.moves.*place.half;
    for (std::size_t i = place.index; i < half.size(); ++i) {
      if (half[i].src == rank) return float_s_[number_of({place.half, i})];
    }
    return std::numeric_limits<double>::infinity();
  }

  const CollectiveTask& task_;
  const machine::Platform& platform_;
  const machine::Wiring& wiring_;
  const Spreading spreading_;
  const Summing summing_;
  const std::uint64_t seed_;
  Improvement best_;
  double ends_s_ = 0;                    // of its run, as ends_of() has it
  std::vector<double> float_s_;          // by move, as moves_of_ops() counts them
  std::vector<std::uint32_t> critical_;  // moves
};

}  // namespace

Improvement improve(const CollectiveTask& task, Improvement start,
                    const machine::Platform& platform, const machine::Wiring& wiring,
                    const ImproveOptions& options) {
  Improver improver(task, std::move(start), platform, wiring, options.seed);
  bool more = options.tries != 0 && improver.look();
  for (std::uint32_t i = 0; i < options.tries && more; ++i) {
    if (improver.attempt(i)) more = improver.look();
  }
  return improver.take();
}

}  // namespace slackline::analysis
