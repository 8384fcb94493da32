#include "analysis/synthesis/moved_collective.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analysis/synthesis/sum_steps.h"
#include "base/error.h"
#include "base/suggest.h"
#include "sched/pass/lower_collective.h"
#include "sched/pass/lower_credits.h"
#include "sched/pattern/collective_plan.h"

namespace slackline::analysis {
namespace {

using sched::CollectivePlan;

constexpr std::array<std::string_view, 4> kNames = {"multicast", "allgather", "reduce-scatter",
                                                    "allreduce"};

std::uint32_t shares_of(const CollectiveTask& task) {
  if (task.collective == Collective::kAllreduce && task.shares != 0) return task.shares;
  return task.collective == Collective::kMulticast ? 1 : task.ranks;
}

// The buffer and its units, and what the collective promises; no messages yet.
sched::ShareWriter writer_of(const CollectiveTask& task) {
  sched::MulticastOptions options;
  options.ranks = task.ranks;
  options.bytes = task.bytes;
  options.block_bytes = task.block_bytes;
  const bool of_shares = task.collective == Collective::kAllgather;
  const std::uint64_t bytes = of_shares ? sched::bytes_of_all(task.bytes, task.ranks) : task.bytes;
  return {options, bytes, shares_of(task)};
}

void promise(const CollectiveTask& task, sched::ShareWriter& out) {
  CollectivePlan& plan = out.plan();
  switch (task.collective) {
    case Collective::kMulticast:
      if (plan.bytes() == 0) return;
      plan.pre.push_back({{sched::BufferId(0), 0, plan.bytes()}, sched::ValueId(0), 0});
      for (std::uint32_t r = 0; r < task.ranks; ++r) {
        plan.post.push_back({{sched::BufferId(r), 0, plan.bytes()}, sched::ValueId(0), 0});
      }
      return;
    case Collective::kAllgather:
      return plan.promise_allgather();
    case Collective::kReduceScatter:
      return out.promise_reduce_scatter();
    case Collective::kAllreduce:
      return plan.promise_allreduce();
  }
}

// The messages of a move: units that follow one another are one piece.
void add_messages(CollectivePlan::Message message, const std::vector<std::uint32_t>& units,
                  CollectivePlan& plan) {
  const std::uint32_t most = message.combines ? 1 : sched::kMostPieces;
  message.pieces = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i != 0 && units[i] == units[i - 1] + 1) {
      ++plan.pieces.back().count;
      continue;
    }
    if (message.pieces == most) {
      plan.messages.push_back(message);
      message.pieces = 0;
    }
    if (message.pieces == 0) message.first_piece = static_cast<std::uint32_t>(plan.pieces.size());
    plan.pieces.push_back({units[i], 1, units[i]});
    ++message.pieces;
  }
  plan.messages.push_back(message);
}

}  // namespace

std::string_view name_of(Collective collective) {
  return kNames[static_cast<std::size_t>(collective)];
}

Collective collective_named(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    throw InputError(sched::unknown_name("collective", name, kNames));
  }
  return static_cast<Collective>(found - kNames.begin());
}

bool has_reducing(Collective collective) { return collective >= Collective::kReduceScatter; }
bool has_spreading(Collective collective) { return collective != Collective::kReduceScatter; }

SumMoves as_sums(const CollectiveMoves& moves) {
  if (!moves.summing.empty()) return moves.summing;
  SumMoves all;
  all.reserve(moves.count());
  for (auto move = moves.reducing.rbegin(); move != moves.reducing.rend(); ++move) {
    all.push_back({move->dst, move->src, move->units, true, 0});
  }
  for (const Move& move : moves.spreading) {
    all.push_back({move.src, move.dst, move.units, false, 0});
  }
  return all;
}

bool carries_out(const CollectiveTask& task, const CollectiveMoves& moves) {
  return sums(summing_of(task), as_sums(moves));
}

Summing summing_of(const CollectiveTask& task) {
  Summing summing;
  summing.ranks = task.ranks;
  summing.owner = spreading_of(task).owner;
  summing.first = has_reducing(task.collective) ? Summing::Has::kAll : Summing::Has::kOwners;
  summing.to_all = has_spreading(task.collective);
  return summing;
}

Spreading spreading_of(const CollectiveTask& task) {
  sched::ShareWriter writer = writer_of(task);
  const CollectivePlan& plan = writer.plan();
  Spreading spreading;
  spreading.ranks = task.ranks;
  const std::uint32_t units_of_a_share = plan.units() / shares_of(task);
  for (std::uint32_t u = 0; u < plan.units(); ++u) {
    spreading.owner.emplace_back(u / units_of_a_share % task.ranks);
    spreading.bytes.push_back(plan.begin[u + 1] - plan.begin[u]);
  }
  return spreading;
}

Spreading spreading_of(const CollectiveTask& task, const CollectiveMoves& moves) {
  Spreading spreading = spreading_of(task);
  if (task.collective != Collective::kAllreduce) return spreading;
  std::vector<bool> found(spreading.units(), false);
  for (const Move& move : moves.spreading) {
    for (const std::uint32_t unit : move.units) {
      if (found[unit]) continue;
      found[unit] = true;
      spreading.owner[unit] = move.src;
    }
  }
  return spreading;
}

std::uint64_t most_moves(const Spreading& spreading) {
  return std::uint64_t{spreading.ranks - 1} * spreading.units();
}

sched::Schedule schedule_of(const CollectiveTask& task, const CollectiveMoves& moves,
                            const std::string& title) {
  sched::ShareWriter writer = writer_of(task);
  promise(task, writer);
  CollectivePlan& plan = writer.plan();
  plan.title = title;
  const SumMoves all = as_sums(moves);
  const std::vector<SumStep> steps = sum_steps(task.ranks, plan.units(), all);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const SumStep& at = steps[i];
    add_messages({at.step, all[i].src, all[i].dst, 0, 0, all[i].adds, at.late, at.late_steps},
                 all[i].units, plan);
    count = std::max(count, at.step + at.late_steps + 1);
  }
  std::stable_sort(plan.messages.begin(), plan.messages.end(),
                   [](const auto& a, const auto& b) { return a.step < b.step; });
  return sched::lower_credits(sched::draft_collective(writer.finish(count)));
}

std::vector<std::uint32_t> moves_of_ops(const sched::Schedule& schedule, const CollectiveTask& task,
                                        const CollectiveMoves& moves) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> of_send;  // by rank and step
  const SumMoves all = as_sums(moves);
  const std::vector<SumStep> steps = sum_steps(task.ranks, writer_of(task).plan().units(), all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    of_send.emplace(std::pair(all[i].src.value, steps[i].step), static_cast<std::uint32_t>(i));
  }
  const std::vector<bool> control = schedule.control_channels();
  std::vector<std::uint32_t> of_op(schedule.op_count(), kNoMove);
  for (std::uint32_t o = 0; o < schedule.op_count(); ++o) {
    const sched::Op& op = schedule.op(sched::OpId(o));
    if (op.kind != sched::OpKind::kSend || control[op.channel.value]) continue;
    of_op[o] = of_send.at({op.rank.value, op.step});
  }
  return of_op;
}

}  // namespace slackline::analysis
