#include "analysis/synthesis/summing.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "analysis/synthesis/term_sets.h"

namespace slackline::analysis {

std::uint32_t messages_of(const SumMove& move) {
  std::uint32_t count = 1;
  for (std::size_t i = 1; i < move.units.size() && move.adds; ++i) {
    if (move.units[i] != move.units[i - 1] + 1) ++count;
  }
  return count;
}

bool for_each_event(std::uint32_t ranks, const SumMoves& moves,
                    const std::function<void(std::size_t)>& sends,
                    const std::function<void(std::size_t)>& comes) {
  struct Waiting {
    std::deque<std::pair<std::size_t, std::uint32_t>> moves;  // and the sends that go before
    std::uint32_t messages = 0;
  };
  std::vector<Waiting> waiting(ranks);
  const auto come = [&](Waiting& at) {
    const std::size_t move = at.moves.front().first;
    at.moves.pop_front();
    at.messages -= messages_of(moves[move]);
    comes(move);
  };
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const SumMove& move = moves[i];
    sends(i);
    Waiting& source = waiting[move.src.value];
    for (auto& entry : source.moves) entry.second -= 1;
    while (!source.moves.empty() && source.moves.front().second == 0) come(source);
    Waiting& target = waiting[move.dst.value];
    std::uint32_t behind = move.adds ? move.behind : 0;
    if (move.adds && !target.moves.empty()) behind = std::max(behind, target.moves.back().second);
    if (behind == 0) {
      comes(i);
      continue;
    }
    target.moves.emplace_back(i, behind);
    target.messages += messages_of(move);
    if (target.messages > kMostWaiting) return false;
  }
  for (Waiting& at : waiting) {
    while (!at.moves.empty()) come(at);
  }
  return true;
}

namespace {

// Carries the moves out on sets of terms.
class Sums {
 public:
  explicit Sums(const Summing& task)
      : task_(task),
        sets_(task.ranks),
        has_(std::size_t{task.ranks} * task.units()),
        unsent_(has_.size()) {
    for (std::uint32_t u = 0; u < task.units(); ++u) {
      for (std::uint32_t r = 0; r < task.ranks; ++r) {
        if (task.first == Summing::Has::kAll || task.owner[u].value == r) at(r, u) = sets_.of(r);
      }
    }
  }

  bool run(const SumMoves& moves) {
    sent_.resize(moves.size());
    return for_each_event(
               task_.ranks, moves, [&](std::size_t i) { send(moves[i], sent_[i]); },
               [&](std::size_t i) { come(moves[i], sent_[i]); }) &&
           sound_ && is_done();
  }

 private:
  std::size_t place(std::uint32_t rank, std::uint32_t unit) const {
    return std::size_t{rank} * task_.units() + unit;
  }
  std::uint32_t& at(std::uint32_t rank, std::uint32_t unit) { return has_[place(rank, unit)]; }

  void send(const SumMove& move, std::vector<std::uint32_t>& sent) {
    for (const std::uint32_t unit : move.units) {
      sent.push_back(at(move.src.value, unit));
      sound_ = sound_ && sent.back() != TermSets::kNone;
      unsent_[place(move.src.value, unit)] = false;
    }
  }

  void come(const SumMove& move, const std::vector<std::uint32_t>& sent) {
    for (std::size_t i = 0; i < sent.size(); ++i) {
      std::uint32_t& there = at(move.dst.value, move.units[i]);
      const bool fits = move.adds ? there != TermSets::kNone && sets_.apart(there, sent[i])
                                  : sets_.within(there, sent[i]);
      const std::size_t here = place(move.dst.value, move.units[i]);
      sound_ = sound_ && fits && (move.adds || !unsent_[here]);
      unsent_[here] = move.adds;
      there = sets_.both(there, sent[i]);
    }
  }

  bool is_done() {
    for (std::uint32_t u = 0; u < task_.units(); ++u) {
      const std::uint32_t owner = task_.owner[u].value;
      const std::uint32_t whole = task_.first == Summing::Has::kAll ? sets_.all() : sets_.of(owner);
      for (std::uint32_t r = 0; r < task_.ranks; ++r) {
        if ((task_.to_all || r == owner) && at(r, u) != whole) return false;
      }
    }
    return true;
  }

  const Summing& task_;
  TermSets sets_;
  std::vector<std::uint32_t> has_;                // by rank and unit
  std::vector<bool> unsent_;                      // by rank and unit: what was added last
  std::vector<std::vector<std::uint32_t>> sent_;  // by move: of each unit
  bool sound_ = true;
};

}  // namespace

bool sums(const Summing& task, const SumMoves& moves) { return Sums(task).run(moves); }

}  // namespace slackline::analysis
