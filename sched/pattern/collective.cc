#include "sched/pattern/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "sched/pattern/collective_algorithms.h"

namespace slackline::sched {
namespace {

using Message = CollectivePlan::Message;
using Piece = CollectivePlan::Piece;

// Throws InputError, with the algorithms that there are beside the multicasts.
Plan multicast(const MulticastOptions& options, const std::string& by,
               CollectiveAlgorithms algorithms = {}) {
  std::vector<std::string_view> names;
  for (const PatternEntry& pattern : plan_patterns()) {
    if (pattern.find_option("racks") != nullptr) continue;
    if (pattern.name == by) return pattern.plan(options);
    names.push_back(pattern.name);
  }
  for (const CollectiveAlgorithm& algorithm : algorithms) names.push_back(algorithm.name);
  throw InputError("by: " + unknown_name("pattern", by, names));
}

// Nothing if it names no algorithm.
const CollectiveAlgorithm* algorithm_without_root(CollectiveAlgorithms among,
                                                  const MulticastOptions& options,
                                                  const std::string& by) {
  const CollectiveAlgorithm* const found = find_algorithm(among, by);
  if (found != nullptr && options.root != RankId(0)) {
    throw InputError(
        fmt::format("root: {}; expected none, as by={} has no root", options.root.value, by));
  }
  return found;
}

CollectivePlan empty_collective(const Plan& plan) {
  CollectivePlan out;
  out.ranks = plan.ranks;
  return out;
}

void cut_into_blocks(const Plan& plan, std::uint32_t copies, CollectivePlan& out) {
  for (std::uint32_t c = 0; c < copies; ++c) {
    for (std::uint32_t b = 0; b < plan.blocks; ++b) {
      out.begin.push_back(c * plan.bytes + std::min(plan.block_offset(b), plan.bytes));
    }
  }
  out.message_bytes = copies * plan.bytes;
  out.begin.push_back(out.message_bytes);
}

void add(CollectivePlan& out, const Transfer& t, bool combines) {
  out.messages.push_back(
      {t.step, t.src, t.dst, static_cast<std::uint32_t>(out.pieces.size()), 1, combines});
  out.pieces.push_back({t.block, 1, t.block});
}

void add_backwards(const Plan& plan, CollectivePlan& out) {
  std::vector<Transfer> back;
  back.reserve(plan.transfers.size());
  for (const Transfer& t : plan.transfers) {
    back.push_back({plan.steps - 1 - t.step, t.dst, t.src, plan.blocks - 1 - t.block});
  }
  std::sort(back.begin(), back.end());
  for (const Transfer& t : back) add(out, t, true);
  out.steps += plan.steps;
}

void add_forwards(const Plan& plan, CollectivePlan& out) {
  for (Transfer t : plan.transfers) {
    t.step += out.steps;
    add(out, t, false);
  }
  out.steps += plan.steps;
}

// The transfers of all ranks' multicasts: `block` counts the units of the whole.
std::vector<Transfer> of_all_roots(const Plan& plan) {
  if (plan.transfers.size() > kMaxTransfers / plan.ranks ||
      plan.blocks > kMaxTransfers / plan.ranks) {
    throw InputError(
        fmt::format("block: {} ranks send {} blocks each to all; expected at most {} "
                    "transfers together; use larger blocks",
                    plan.ranks, plan.blocks, kMaxTransfers));
  }
  std::vector<Transfer> all;
  all.reserve(plan.transfers.size() * plan.ranks);
  for (std::uint32_t root = 0; root < plan.ranks; ++root) {
    const auto rank = [&](RankId of) { return RankId((of.value + root) % plan.ranks); };
    for (const Transfer& t : plan.transfers) {
      all.push_back({t.step, rank(t.src), rank(t.dst), root * plan.blocks + t.block});
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

void pack(const std::vector<Transfer>& transfers, CollectivePlan& out) {
  const auto way = [](const auto& m) { return std::tuple(m.step, m.src, m.dst); };
  for (const Transfer& t : transfers) {
    if (!out.messages.empty() && way(out.messages.back()) == way(t)) {
      Message& message = out.messages.back();
      Piece& last = out.pieces.back();
      if (last.first + last.count == t.block) {
        ++last.count;
        continue;
      }
      if (message.pieces < kMostPieces) {
        ++message.pieces;
        out.pieces.push_back({t.block, 1, t.block});
        continue;
      }
    }
    add(out, t, false);
  }
}

MulticastOptions without_bytes(MulticastOptions options) {
  options.bytes = 0;
  return options;
}

}  // namespace

CollectivePlan reduce_plan(const MulticastOptions& options, const std::string& by) {
  const Plan plan = multicast(options, by);
  CollectivePlan out = empty_collective(plan);
  cut_into_blocks(plan, 1, out);
  add_backwards(plan, out);
  out.each_has_all();
  out.sum_at(plan.root, 0, out.bytes());
  return out;
}

CollectivePlan allreduce_plan(const MulticastOptions& options, const std::string& by) {
  check(options);
  const CollectiveAlgorithms algorithms = allreduce_algorithms();
  if (const auto* algorithm = algorithm_without_root(algorithms, options, by)) {
    return algorithm->plan(options);
  }
  const Plan plan = multicast(options, by, algorithms);
  CollectivePlan out = empty_collective(plan);
  cut_into_blocks(plan, 1, out);
  add_backwards(plan, out);
  add_forwards(plan, out);
  out.promise_allreduce();
  return out;
}

CollectivePlan allgather_plan(const MulticastOptions& options, const std::string& by) {
  check(options);
  const CollectiveAlgorithms algorithms = allgather_algorithms();
  if (const auto* algorithm = find_algorithm(algorithms, by)) return algorithm->plan(options);
  MulticastOptions of_first = options;
  of_first.root = RankId(0);
  const Plan plan = multicast(of_first, by, algorithms);
  bytes_of_all(plan.bytes, plan.ranks);
  CollectivePlan out = empty_collective(plan);
  cut_into_blocks(plan, plan.ranks, out);
  pack(of_all_roots(plan), out);
  out.steps = plan.steps;
  out.promise_allgather();
  return out;
}

CollectivePlan barrier_plan(const MulticastOptions& options, const std::string& by) {
  CollectivePlan out = by == "circulant" ? allgather_plan(without_bytes(options), by)
                                         : allreduce_plan(without_bytes(options), by);
  out.marks_ends = true;
  return out;
}

}  // namespace slackline::sched
