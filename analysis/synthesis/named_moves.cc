#include "analysis/synthesis/named_moves.h"

#include <algorithm>
#include <utility>

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

// Nothing if units change their places.
std::optional<CollectiveMoves> moves_of(const CollectivePlan& plan) {
  CollectiveMoves moves;
  for (const CollectivePlan::Message& message : plan.messages) {
    Move move{message.src, message.dst, {}};
    for (std::uint32_t p = 0; p < message.pieces; ++p) {
      const CollectivePlan::Piece& piece = plan.pieces[message.first_piece + p];
      if (piece.first != piece.to || message.src == message.dst) return std::nullopt;
      for (std::uint32_t i = 0; i < piece.count; ++i) move.units.push_back(piece.first + i);
    }
    std::sort(move.units.begin(), move.units.end());
    if (message.combines) std::swap(move.src, move.dst);
    (message.combines ? moves.reducing : moves.spreading).push_back(std::move(move));
  }
  std::reverse(moves.reducing.begin(), moves.reducing.end());
  return moves;
}

}  // namespace

std::optional<CollectiveMoves> named_moves(const CollectiveTask& task,
                                           const sched::MulticastOptions& options,
                                           const std::string& name) {
  const Spreading spreading = spreading_of(task);
  std::optional<CollectiveMoves> moves;
  if (task.collective == Collective::kMulticast) {
    const sched::PatternEntry* const pattern = sched::find_plan_pattern(name);
    if (pattern == nullptr) return std::nullopt;
    moves.emplace();
    for (const sched::Transfer& t : pattern->plan(options).transfers) {
      moves->spreading.push_back({t.src, t.dst, {t.block}});
    }
  } else {
    CollectivePlan plan = plan_of(task.collective, options, name);
    std::stable_sort(plan.messages.begin(), plan.messages.end(),
                     [](const auto& a, const auto& b) { return a.step < b.step; });
    if (plan.units() != spreading.units()) return std::nullopt;
    for (std::uint32_t u = 0; u < plan.units(); ++u) {
      if (plan.begin[u + 1] - plan.begin[u] != spreading.bytes[u]) return std::nullopt;
    }
    moves = moves_of(plan);
  }
  if (!moves) return moves;
  const Spreading theirs = spreading_of(task, *moves);
  const bool reduced =
      has_reducing(task.collective) ? spreads(theirs, moves->reducing) : moves->reducing.empty();
  const bool spread =
      has_spreading(task.collective) ? spreads(theirs, moves->spreading) : moves->spreading.empty();
  return reduced && spread ? moves : std::nullopt;
}

}  // namespace slackline::analysis
