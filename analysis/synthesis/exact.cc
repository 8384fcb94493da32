#include "analysis/synthesis/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "analysis/synthesis/step_bounds.h"
#include "base/error.h"

namespace slackline::analysis {
namespace {

using sched::RankId;

constexpr std::size_t kMostUnits = kMostSearchPlaces;

RankSet rank_bit(std::uint32_t rank) { return RankSet{1} << rank; }
std::uint32_t first_of(std::uint64_t set) {
  return static_cast<std::uint32_t>(std::countr_zero(set));
}

class Search {
 public:
  Search(const Spreading& task, const StepNetwork& network, std::uint64_t most_nodes)
      : shape_(task.ranks, task.units()),
        network_(network),
        most_nodes_(most_nodes),
        symmetries_(network.ports_only() ? std::vector<RankPermutation>() : network.symmetries()) {
    for (std::uint32_t u = 0; u < task.units(); ++u) start_ |= shape_.bit(task.owner[u].value, u);
  }

  Holding start() const { return start_; }
  bool is_over() const { return nodes_ >= most_nodes_; }
  std::uint64_t nodes() const { return nodes_; }
  /// Of the last step first.
  const std::vector<Move>& found() const { return found_; }

  // Whether all can have everything after `left` steps from this; found() then says how. A search
  // that is over says no, too.
  bool spreads_in(Holding holding, std::uint32_t left) {
    if (holding == shape_.all()) return true;
    if (fewest_steps_left(shape_, network_, holding) > left) return false;
    const Holding canonical = canonical_of(holding);
    const auto known = failed_.find(canonical);
    if (known != failed_.end() && known->second >= left) return false;
    Step step(network_, holding, left);
    prepare(step);
    if (choose(step, 0)) {
      for (const std::uint32_t d : step.order) {
        if ((step.chosen & rank_bit(d)) == 0) continue;
        found_.push_back({RankId(step.source[d]), RankId(d), {step.unit[d]}});
      }
      return true;
    }
    if (!is_over()) {
      std::uint32_t& most = failed_[canonical];
      most = std::max(most, left);
    }
    return false;
  }

 private:
  // One step that is being chosen: of each receiver a unit, or none.
  struct Step {
    Step(const StepNetwork& network, Holding from, std::uint32_t steps_left)
        : holding(from), left(steps_left), load(network) {}
    const Holding holding;
    const std::uint32_t left;
    StepLoad load;
    std::vector<std::uint32_t> order;           // receivers, the neediest first
    std::array<RankSet, kMostUnits> holders{};  // by unit
    std::array<std::uint32_t, kMostStepRanks> unit{};
    std::array<std::uint32_t, kMostStepRanks> source{};
    RankSet chosen = 0;  // receivers that take something
  };

  Holding missing(const Step& step, std::uint32_t d) const {
    return shape_.every_unit() & ~shape_.row(step.holding, d);
  }

  void prepare(Step& step) const {
    for (std::uint32_t u = 0; u < shape_.units(); ++u) {
      step.holders[u] = shape_.holders(step.holding, u);
    }
    for (std::uint32_t d = 0; d < shape_.ranks(); ++d) {
      if (missing(step, d) != 0) step.order.push_back(d);
    }
    std::stable_sort(step.order.begin(), step.order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::popcount(missing(step, a)) > std::popcount(missing(step, b));
    });
  }

  // Finds a source for each receiver of the set.
  bool find_sources(Step& step, RankSet receivers, RankSet busy) const {
    if (receivers == 0) return true;
    std::uint32_t d = 0;
    RankSet sources = 0;
    int fewest = static_cast<int>(kMostStepRanks) + 1;
    for (RankSet left = receivers; left != 0; left &= left - 1) {
      const std::uint32_t one = first_of(left);
      RankSet able = step.holders[step.unit[one]] & ~busy & ~rank_bit(one);
      for (RankSet each = able; each != 0; each &= each - 1) {
        if (!step.load.has_room(first_of(each), one)) able &= ~rank_bit(first_of(each));
      }
      if (std::popcount(able) >= fewest) continue;
      fewest = std::popcount(able);
      sources = able;
      d = one;
    }
    for (; sources != 0; sources &= sources - 1) {
      const std::uint32_t s = first_of(sources);
      step.load.add(s, d);
      const bool all = find_sources(step, receivers & ~rank_bit(d), busy | rank_bit(s));
      step.load.remove(s, d);
      if (!all) continue;
      step.source[d] = s;
      return true;
    }
    return false;
  }
  bool can_take(Step& step, std::uint32_t d, std::uint32_t unit) const {
    step.unit[d] = unit;
    return find_sources(step, step.chosen | rank_bit(d), 0);
  }

  // The receiver before the i-th that has the same units, where ranks are alike; else none. The two
  // could change places: so the later one takes no unit before the earlier one's.
  std::uint32_t twin_before(const Step& step, std::size_t i) const {
    if (!network_.ports_only()) return kMostStepRanks;
    for (std::size_t k = i; k-- > 0;) {
      if (shape_.row(step.holding, step.order[k]) == shape_.row(step.holding, step.order[i])) {
        return step.order[k];
      }
    }
    return kMostStepRanks;
  }

  // Whether a unit with a lower number has the same holders and was taken by the same receivers so
  // far: then it does as well.
  bool has_double_before(const Step& step, std::size_t i, std::uint32_t unit) const {
    for (std::uint32_t other = 0; other < unit; ++other) {
      if (step.holders[other] != step.holders[unit]) continue;
      const auto apart = [&](std::uint32_t d) {
        return (step.chosen & rank_bit(d)) != 0 && (step.unit[d] == unit || step.unit[d] == other);
      };
      const auto until = step.order.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::none_of(step.order.begin(), until, apart)) return true;
    }
    return false;
  }

  // What the receivers from the i-th on take; the rest is chosen.
  bool choose(Step& step, std::size_t i) {
    if (++nodes_ >= most_nodes_) return false;
    if (i == step.order.size()) return go_on(step);
    const std::uint32_t d = step.order[i];
    const Holding lacks = missing(step, d);
    std::uint32_t least = 0;
    const std::uint32_t twin = twin_before(step, i);
    if (twin != kMostStepRanks) {
      least = (step.chosen & rank_bit(twin)) != 0 ? step.unit[twin] : shape_.units();
    }
    // Rare units first.
    std::vector<std::pair<int, std::uint32_t>> units;
    for (Holding left = lacks; left != 0; left &= left - 1) {
      const std::uint32_t unit = first_of(left);
      if (unit < least || has_double_before(step, i, unit)) continue;
      units.emplace_back(std::popcount(step.holders[unit]), unit);
    }
    std::sort(units.begin(), units.end());
    for (const auto& entry : units) {
      if (!can_take(step, d, entry.second)) continue;
      step.unit[d] = entry.second;
      step.chosen |= rank_bit(d);
      if (choose(step, i + 1)) return true;
      step.chosen &= ~rank_bit(d);
      if (is_over()) return false;
    }
    // It lacks as many as there are steps, so it cannot wait.
    if (static_cast<std::uint32_t>(std::popcount(lacks)) >= step.left) return false;
    return choose(step, i + 1);
  }

  // The step is chosen. More of it is never worse: sets that leave room are looked at as part of
  // those that do not.
  bool go_on(Step& step) {
    for (const std::uint32_t d : step.order) {
      if ((step.chosen & rank_bit(d)) != 0) continue;
      for (Holding left = missing(step, d); left != 0; left &= left - 1) {
        if (can_take(step, d, first_of(left))) return false;
      }
    }
    if (!find_sources(step, step.chosen, 0)) return false;
    Holding next = step.holding;
    for (const std::uint32_t d : step.order) {
      if ((step.chosen & rank_bit(d)) != 0) next |= shape_.bit(d, step.unit[d]);
    }
    return next != step.holding && spreads_in(next, step.left - 1);
  }

  // One of all holdings that differ by permutations of units, and of ranks that are alike. It need
  // not be the same one always: then some are looked at twice.
  Holding canonical_of(Holding holding) const {
    std::array<RankSet, kMostUnits> holders{};
    for (std::uint32_t u = 0; u < shape_.units(); ++u) holders[u] = shape_.holders(holding, u);
    if (network_.ports_only()) return packed(holders, by_contents(holding, holders));
    Holding least = ~Holding{0};
    for (const RankPermutation& permutation : symmetries_) {
      least = std::min(least, packed(holders, permutation));
    }
    return least;
  }

  // Ranks in the order of what can be said of them without their numbers.
  RankPermutation by_contents(Holding holding,
                              const std::array<RankSet, kMostUnits>& holders) const {
    std::array<std::pair<std::uint64_t, std::uint32_t>, kMostStepRanks> keys{};
    for (std::uint32_t r = 0; r < shape_.ranks(); ++r) {
      std::uint64_t key = 0;
      for (Holding left = shape_.row(holding, r); left != 0; left &= left - 1) {
        key += std::uint64_t{1} << (7 * (std::popcount(holders[first_of(left)]) - 1));
      }
      keys[r] = {key, r};
    }
    // Of sort() g++ 12 thinks that it looks at sixteen keys.
    const auto end = keys.begin() + shape_.ranks();
    std::partial_sort(keys.begin(), end, end);
    RankPermutation place{};
    for (std::uint32_t i = 0; i < shape_.ranks(); ++i) {
      place[keys[i].second] = static_cast<std::uint8_t>(i);
    }
    return place;
  }

  Holding packed(const std::array<RankSet, kMostUnits>& holders,
                 const RankPermutation& place) const {
    std::array<RankSet, kMostUnits> columns{};
    const auto end = columns.begin() + shape_.units();
    for (std::uint32_t u = 0; u < shape_.units(); ++u) {
      for (RankSet left = holders[u]; left != 0; left &= left - 1) {
        columns[u] |= rank_bit(place[first_of(left)]);
      }
    }
    std::sort(columns.begin(), end);
    Holding out = 0;
    for (auto column = columns.begin(); column != end; ++column) {
      out = out << shape_.ranks() | *column;
    }
    return out;
  }

  const HoldingShape shape_;
  const StepNetwork& network_;
  const std::uint64_t most_nodes_;
  const std::vector<RankPermutation> symmetries_;
  Holding start_ = 0;
  std::uint64_t nodes_ = 0;
  std::map<Holding, std::uint32_t> failed_;  // in so many steps not all have everything
  std::vector<Move> found_;
};

}  // namespace

FewestSteps packed_in_steps(const Spreading& task, const StepNetwork& network, const Moves& moves) {
  struct Slot {
    explicit Slot(const StepNetwork& all) : load(all) {}
    StepLoad load;
    RankSet sending = 0;
    RankSet receiving = 0;
    Moves moves;
  };
  std::vector<Slot> slots;
  std::vector<std::uint32_t> there(std::size_t{task.ranks} * task.units(),
                                   0);  // from which step on
  for (const Move& move : moves) {
    for (const std::uint32_t unit : move.units) {
      const std::uint32_t s = move.src.value;
      const std::uint32_t d = move.dst.value;
      std::uint32_t step = there[std::size_t{s} * task.units() + unit];
      const auto has_room = [&](const Slot& slot) {
        return (slot.sending & rank_bit(s)) == 0 && (slot.receiving & rank_bit(d)) == 0 &&
               slot.load.has_room(s, d);
      };
      while (step < slots.size() && !has_room(slots[step])) ++step;
      while (step >= slots.size()) slots.emplace_back(network);
      Slot& slot = slots[step];
      slot.load.add(s, d);
      slot.sending |= rank_bit(s);
      slot.receiving |= rank_bit(d);
      slot.moves.push_back({move.src, move.dst, {unit}});
      there[std::size_t{d} * task.units() + unit] = step + 1;
    }
  }
  FewestSteps out;
  out.steps = static_cast<std::uint32_t>(slots.size());
  for (const Slot& slot : slots) {
    out.moves.insert(out.moves.end(), slot.moves.begin(), slot.moves.end());
  }
  return out;
}

FewestSteps fewest_steps(const Spreading& task, const StepNetwork& network,
                         std::span<const Moves> known, std::uint64_t most_nodes) {
  if (std::uint64_t{task.ranks} * task.units() > kMostSearchPlaces) {
    throw Unsupported(fmt::format(
        "fewest steps: {} units for {} ranks; expected at most {} of all ranks together",
        task.units(), task.ranks, kMostSearchPlaces));
  }
  FewestSteps best;
  if (task.ranks < 2 || task.units() == 0) return best;
  // Nobody needs more: each unit after the other.
  best.steps = (task.ranks - 1) * task.units();
  for (std::uint32_t u = 0; u < task.units(); ++u) {
    for (std::uint32_t d = 0; d < task.ranks; ++d) {
      if (RankId(d) != task.owner[u]) best.moves.push_back({task.owner[u], RankId(d), {u}});
    }
  }
  for (const Moves& moves : known) {
    FewestSteps packed = packed_in_steps(task, network, moves);
    if (packed.steps < best.steps) best = std::move(packed);
  }
  Search search(task, network, most_nodes);
  best.at_least =
      fewest_steps_left(HoldingShape(task.ranks, task.units()), network, search.start());
  while (best.at_least < best.steps) {
    if (search.spreads_in(search.start(), best.at_least)) {
      best.steps = best.at_least;
      best.moves.assign(search.found().rbegin(), search.found().rend());
      break;
    }
    if (search.is_over()) break;
    ++best.at_least;
  }
  best.nodes = search.nodes();
  return best;
}

}  // namespace slackline::analysis
