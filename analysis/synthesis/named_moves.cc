#include "analysis/synthesis/named_moves.h"

#include <algorithm>
#include <bit>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sched/pattern/collective.h"
#include "sched/pattern/collective_algorithms.h"
#include "sched/pattern/pattern.h"

namespace slackline::analysis {
namespace {

using sched::CollectivePlan;

CollectivePlan plan_of(Collective collective, const sched::MulticastOptions& options,
                       const std::string& by) {
  switch (collective) {
    case Collective::kAllgather:
      return sched::allgather_plan(options, by);
    case Collective::kReduceScatter:
      return sched::algorithm_named(sched::reduce_scatter_algorithms(), by).plan(options);
    case Collective::kMulticast:
    case Collective::kAllreduce:
      break;
  }
  return sched::allreduce_plan(options, by);
}

// A message of a step, as a move.
struct Sent {
  std::uint32_t step = 0;
  bool late = false;
  SumMove move;
};

// By step. Nothing if units change their places, or are copied.
std::optional<std::vector<Sent>> sent_by(const CollectivePlan& plan) {
  std::vector<Sent> all;
  for (const CollectivePlan::Message& message : plan.messages) {
    Sent sent{message.step, message.late, {message.src, message.dst, {}, message.combines, 0}};
    for (std::uint32_t p = 0; p < message.pieces; ++p) {
      const CollectivePlan::Piece& piece = plan.pieces[message.first_piece + p];
      if (piece.first != piece.to || message.src == message.dst) return std::nullopt;
      for (std::uint32_t i = 0; i < piece.count; ++i) sent.move.units.push_back(piece.first + i);
    }
    std::sort(sent.move.units.begin(), sent.move.units.end());
    all.push_back(std::move(sent));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Sent& a, const Sent& b) { return a.step < b.step; });
  return all;
}

CollectiveMoves as_halves(const std::vector<Sent>& sent) {
  CollectiveMoves moves;
  for (const Sent& one : sent) {
    const SumMove& move = one.move;
    if (move.adds) {
      moves.reducing.push_back({move.dst, move.src, move.units});
    } else {
      moves.spreading.push_back({move.src, move.dst, move.units});
    }
  }
  std::reverse(moves.reducing.begin(), moves.reducing.end());
  return moves;
}

bool are_halves(const CollectiveTask& task, const CollectiveMoves& moves) {
  const Spreading theirs = spreading_of(task, moves);
  const bool reduced =
      has_reducing(task.collective) ? spreads(theirs, moves.reducing) : moves.reducing.empty();
  return reduced && (has_spreading(task.collective) ? spreads(theirs, moves.spreading)
                                                    : moves.spreading.empty());
}

bool share_a_unit(const SumMove& a, const SumMove& b) {
  return std::find_first_of(a.units.begin(), a.units.end(), b.units.begin(), b.units.end()) !=
         a.units.end();
}

// The moves of one step, one after the other: what comes to a rank comes before it sends of the
// same units, or, if it is late, behind all that it sends in the step. False if no order does that.
bool put_in_order(std::span<const Sent> step, SumMoves& moves) {
  std::map<sched::RankId, std::vector<std::size_t>> by_source, by_target;
  for (std::size_t i = 0; i < step.size(); ++i) {
    by_source[step[i].move.src].push_back(i);
    by_target[step[i].move.dst].push_back(i);
  }
  constexpr std::size_t kNot = ~std::size_t{0};
  std::vector<std::size_t> place(step.size(), kNot);
  std::vector<std::size_t> order;
  const auto waits = [&](std::size_t i) {
    const Sent& mine = step[i];
    const auto before = [&](std::size_t k) {
      return place[k] == kNot && k != i && share_a_unit(mine.move, step[k].move);
    };
    // What is sent comes first; and what it takes the place of is sent first.
    const std::vector<std::size_t>& brought = by_target[mine.move.src];
    const std::vector<std::size_t>& read = by_source[mine.move.dst];
    return std::any_of(brought.begin(), brought.end(),
                       [&](std::size_t k) { return !step[k].late && before(k); }) ||
           (mine.late && !mine.move.adds && std::any_of(read.begin(), read.end(), before));
  };
  while (order.size() < step.size()) {
    const std::size_t so_far = order.size();
    for (std::size_t i = 0; i < step.size(); ++i) {
      if (place[i] != kNot || waits(i)) continue;
      place[i] = order.size();
      order.push_back(i);
    }
    if (order.size() == so_far) return false;
  }
  for (const std::size_t i : order) {
    SumMove move = step[i].move;
    if (step[i].late && move.adds) {
      const std::vector<std::size_t>& read = by_source[move.dst];
      move.behind = static_cast<std::uint32_t>(std::count_if(
          read.begin(), read.end(), [&](std::size_t k) { return place[k] > place[i]; }));
    }
    moves.push_back(std::move(move));
  }
  return true;
}

std::optional<CollectiveMoves> as_one(const std::vector<Sent>& sent) {
  CollectiveMoves moves;
  for (std::size_t begin = 0; begin < sent.size();) {
    std::size_t end = begin;
    while (end < sent.size() && sent[end].step == sent[begin].step) ++end;
    if (!put_in_order(std::span(sent).subspan(begin, end - begin), moves.summing)) {
      return std::nullopt;
    }
    begin = end;
  }
  return moves;
}

std::optional<CollectiveMoves> moves_of(const CollectiveTask& task, const std::vector<Sent>& sent) {
  CollectiveMoves halves = as_halves(sent);
  if (are_halves(task, halves)) return halves;
  std::optional<CollectiveMoves> moves = as_one(sent);
  if (moves && !carries_out(task, *moves)) return std::nullopt;
  return moves;
}

bool are_cut_alike(const CollectivePlan& plan, const Spreading& spreading) {
  if (plan.units() != spreading.units()) return false;
  for (std::uint32_t u = 0; u < plan.units(); ++u) {
    if (plan.begin[u + 1] - plan.begin[u] != spreading.bytes[u]) return false;
  }
  return true;
}

// That the message is cut into by the task's rules, as far as they leave it open.
std::vector<std::uint32_t> shares_to_try(const CollectiveTask& task) {
  if (task.collective != Collective::kAllreduce) return {0};
  return {0, std::bit_floor(task.ranks), 1};
}

std::vector<Sent> sent_by_multicast(const sched::Plan& plan) {
  std::vector<Sent> sent;
  for (const sched::Transfer& t : plan.transfers) {
    sent.push_back({t.step, false, {t.src, t.dst, {t.block}, false, 0}});
  }
  return sent;
}

}  // namespace

std::optional<NamedMoves> named_moves(const CollectiveTask& task,
                                      const sched::MulticastOptions& options,
                                      const std::string& name, std::uint64_t most_moves) {
  if (task.collective == Collective::kMulticast) {
    const sched::PatternEntry* const pattern = sched::find_plan_pattern(name);
    if (pattern == nullptr) return std::nullopt;
    const std::vector<Sent> sent = sent_by_multicast(pattern->plan(options));
    if (sent.size() > most_moves) return std::nullopt;
    std::optional<CollectiveMoves> moves = moves_of(task, sent);
    if (!moves) return std::nullopt;
    return NamedMoves{0, std::move(*moves)};
  }
  const CollectivePlan plan = plan_of(task.collective, options, name);
  if (plan.messages.size() > most_moves) return std::nullopt;
  const std::optional<std::vector<Sent>> sent = sent_by(plan);
  if (!sent) return std::nullopt;
  for (const std::uint32_t shares : shares_to_try(task)) {
    CollectiveTask cut = task;
    cut.shares = shares;
    if (!are_cut_alike(plan, spreading_of(cut))) continue;
    if (std::optional<CollectiveMoves> moves = moves_of(cut, *sent)) {
      return NamedMoves{shares, std::move(*moves)};
    }
  }
  return std::nullopt;
}

}  // namespace slackline::analysis
