#include "analysis/synthesis/exact_sums.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/synthesis/sum_sizes.h"
#include "analysis/synthesis/sum_steps.h"

namespace slackline::analysis {
namespace {

using sched::RankId;

// What a rank can send: its sum, and that with the first operand added that it got to add, with the
// first two, and so on.
using Versions = std::vector<RankSet>;
using State = std::vector<Versions>;  // by rank

std::uint32_t size_of(RankSet set) { return static_cast<std::uint32_t>(std::popcount(set)); }

struct Told {
  std::uint32_t src = 0;
  std::uint32_t dst = 0;
  std::uint32_t version = 0;
};

class SumSearch {
 public:
  SumSearch(const StepNetwork& network, std::uint64_t most_nodes)
      : network_(network),
        most_nodes_(most_nodes),
        symmetries_(network.symmetries()),
        sizes_(network.ranks()) {}

  State start() const {
    State state;
    for (std::uint32_t r = 0; r < network_.ranks(); ++r) state.push_back({RankSet{1} << r});
    return state;
  }
  bool is_over() const { return nodes_ >= most_nodes_; }
  std::uint64_t nodes() const { return nodes_; }
  const std::vector<std::vector<Told>>& found() const { return found_; }  // the last step first

  // What no schedule is below: the largest sum at most doubles in a step.
  std::uint32_t bound() const {
    return static_cast<std::uint32_t>(std::bit_width(network_.ranks() - 1));
  }

  // Whether all can have the sum after `left` steps; found() then says how. A search that is over
  // says no, too.
  bool sums_in(const State& state, std::uint32_t left) {
    if (is_done(state)) return true;
    if (left == 0) return false;
    std::uint32_t largest = 0;
    std::vector<SumSize> sizes(state.size());
    for (std::uint32_t r = 0; r < state.size(); ++r) {
      for (const RankSet told : state[r]) sizes[r].tells |= std::uint64_t{1} << size_of(told);
      sizes[r].has = size_of(state[r].back());
      largest = std::max(largest, sizes[r].has);
    }
    if (!sizes_.may_end(std::move(sizes), left)) return false;
    State canonical;
    if (left > 1) {
      canonical = canonical_of(state);
      const auto known = failed_.find(canonical);
      if (known != failed_.end() && known->second >= left) return false;
    }
    Step step{state, state, left, largest, StepLoad(network_), 0, {}};
    if (choose(step, 0)) {
      found_.push_back(step.told);
      return true;
    }
    if (left > 1 && !is_over()) {
      std::uint32_t& most = failed_[canonical];
      most = std::max(most, left);
    }
    return false;
  }

 private:
  struct Step {
    const State& before;
    State after;
    const std::uint32_t left;
    const std::uint32_t largest;
    StepLoad load;
    RankSet busy;  // that send
    std::vector<Told> told;
  };

  bool is_done(const State& state) const {
    return std::all_of(state.begin(), state.end(),
                       [&](const Versions& v) { return v.back() == network_.all(); });
  }

  bool may_do(std::uint32_t has, std::uint32_t largest, std::uint32_t left) const {
    return may_have_all(network_.ranks(), has, largest, left);
  }

  // Whether a rank that has these terms may take what it is told, with `left` steps to go.
  bool may_take(RankSet has, RankSet told, std::uint32_t largest, std::uint32_t left) const {
    const bool adds = (told & has) == 0;
    if (!adds && ((has & ~told) != 0 || told == has)) return false;
    return may_do(size_of(told | has), 2 * largest, left - 1);
  }

  // What the receivers from the d-th on are told.
  bool choose(Step& step, std::uint32_t d) {
    if (++nodes_ >= most_nodes_) return false;
    if (d == network_.ranks()) return sums_in(step.after, step.left - 1);
    const RankSet has = step.before[d].back();
    const Versions mine = step.after[d];
    for (std::uint32_t s = 0; s < network_.ranks() && has != network_.all(); ++s) {
      if (s == d || (step.busy >> s & 1) != 0 || !step.load.has_room(s, d)) continue;
      for (std::uint32_t v = 0; v < step.before[s].size(); ++v) {
        const RankSet told = step.before[s][v];
        if (!may_take(has, told, step.largest, step.left)) continue;
        const bool adds = (told & has) == 0;
        const Versions theirs = step.after[s];
        // It has no more what it had before it added the first v. If it was told before in this
        // step what takes the place of its sum, it has that alone.
        auto& kept = step.after[s];
        if (kept.front() == step.before[s].front()) kept.erase(kept.begin(), kept.begin() + v);
        if (adds) {
          step.after[d].push_back(told | has);
        } else {
          step.after[d] = {told};
        }
        step.load.add(s, d);
        step.busy |= RankSet{1} << s;
        step.told.push_back({s, d, v});
        if (choose(step, d + 1)) return true;
        step.told.pop_back();
        step.busy &= ~(RankSet{1} << s);
        step.load.remove(s, d);
        step.after[d] = mine;
        step.after[s] = theirs;
        if (is_over()) return false;
      }
    }
    if (!may_do(size_of(has), 2 * step.largest, step.left - 1)) return false;
    return choose(step, d + 1);
  }

  // One of those that the symmetries make of it.
  State canonical_of(const State& state) const {
    State least;
    State moved(state.size());
    for (const RankPermutation& place : symmetries_) {
      for (std::uint32_t r = 0; r < state.size(); ++r) {
        Versions& to = moved[place[r]];
        to.clear();
        for (const RankSet version : state[r]) {
          RankSet set = 0;
          for (RankSet each = version; each != 0; each &= each - 1) {
            set |= RankSet{1} << place[static_cast<std::uint32_t>(std::countr_zero(each))];
          }
          to.push_back(set);
        }
      }
      if (least.empty() || moved < least) least = moved;
    }
    return least;
  }

  const StepNetwork& network_;
  const std::uint64_t most_nodes_;
  const std::vector<RankPermutation> symmetries_;
  SumSizes sizes_;
  std::uint64_t nodes_ = 0;
  std::map<State, std::uint32_t> failed_;  // in so many steps not all have the sum
  std::vector<std::vector<Told>> found_;
};

// Steps as moves: an operand is added behind those later sends of its rank that do not have it.
SumMoves as_moves(std::uint32_t ranks, const std::vector<std::vector<Told>>& steps) {
  struct Kept {
    std::size_t move;
    RankSet added;
  };
  std::vector<RankSet> sum;
  std::vector<std::vector<Kept>> waiting(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) sum.push_back(RankSet{1} << r);
  SumMoves moves;
  for (const std::vector<Told>& step : steps) {
    std::vector<std::pair<SumMove, RankSet>> sent;
    for (const Told& one : step) {
      std::vector<Kept>& mine = waiting[one.src];
      for (std::uint32_t v = 0; v < one.version; ++v) sum[one.src] |= mine[v].added;
      mine.erase(mine.begin(), mine.begin() + one.version);
      for (const Kept& kept : mine) ++moves[kept.move].behind;
      sent.push_back({{RankId(one.src), RankId(one.dst), {0}, true, 0}, sum[one.src]});
    }
    for (auto& [move, set] : sent) {
      RankSet has = sum[move.dst.value];
      for (const Kept& kept : waiting[move.dst.value]) has |= kept.added;
      move.adds = (has & set) == 0;
    }
    // What takes the place of a sum comes behind what tells it, and that has fewer terms.
    std::stable_sort(sent.begin(), sent.end(), [](const auto& a, const auto& b) {
      return std::pair(!a.first.adds, a.first.adds ? 0u : size_of(a.second)) <
             std::pair(!b.first.adds, b.first.adds ? 0u : size_of(b.second));
    });
    for (std::size_t i = 0; i < sent.size(); ++i) {
      SumMove& move = sent[i].first;
      const std::uint32_t dst = move.dst.value;
      if (move.adds) {
        // What its target tells in this step goes before, as far as it has not gone yet.
        for (std::size_t k = i + 1; k < sent.size(); ++k) {
          move.behind += sent[k].first.src == move.dst ? 1 : 0;
        }
        waiting[dst].push_back({moves.size(), sent[i].second});
      } else {
        sum[dst] = sent[i].second;
        waiting[dst].clear();
      }
      moves.push_back(std::move(move));
    }
  }
  return moves;
}

// The steps of moves of one unit; nothing if links do not carry them so.
std::optional<std::uint32_t> steps_of(const StepNetwork& network, const SumMoves& moves) {
  std::vector<StepLoad> loads;
  const std::vector<SumStep> steps = sum_steps(network.ranks(), 1, moves);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    while (loads.size() <= steps[i].step) loads.emplace_back(network);
    StepLoad& load = loads[steps[i].step];
    if (!load.has_room(moves[i].src.value, moves[i].dst.value)) return std::nullopt;
    load.add(moves[i].src.value, moves[i].dst.value);
  }
  return static_cast<std::uint32_t>(loads.size());
}

// One after the other to rank 0, and back.
SumMoves by_first(std::uint32_t ranks) {
  SumMoves moves;
  for (std::uint32_t r = 1; r < ranks; ++r) moves.push_back({RankId(r), RankId(0), {0}, true, 0});
  for (std::uint32_t r = 1; r < ranks; ++r) moves.push_back({RankId(0), RankId(r), {0}, false, 0});
  return moves;
}

}  // namespace

FewestSumSteps fewest_sum_steps(const StepNetwork& network, std::span<const SumMoves> known,
                                std::uint64_t most_nodes) {
  const std::uint32_t n = network.ranks();
  FewestSumSteps best;
  if (n < 2) return best;
  best.moves = by_first(n);
  best.steps = 2 * (n - 1);
  for (const SumMoves& moves : known) {
    const std::optional<std::uint32_t> steps = steps_of(network, moves);
    if (!steps || *steps >= best.steps) continue;
    best.moves = moves;
    best.steps = *steps;
  }
  SumSearch search(network, most_nodes);
  best.at_least = search.bound();
  while (best.at_least < best.steps) {
    if (search.sums_in(search.start(), best.at_least)) {
      best.moves = as_moves(n, {search.found().rbegin(), search.found().rend()});
      best.steps = best.at_least;
      break;
    }
    if (search.is_over()) break;
    ++best.at_least;
  }
  best.nodes = search.nodes();
  return best;
}

}  // namespace slackline::analysis
