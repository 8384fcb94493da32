#include "sched/pattern/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

CollectivePlan empty_collective(const Plan& plan, const MulticastOptions& options) {
  CollectivePlan out;
  out.ranks = plan.ranks;
  out.first_alone = options.own.get<PlanPart>().first_alone;
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

// A unit goes into the message at hand, or begins the next one.
void pack(CollectivePlan& out, std::uint32_t first, const Transfer& t) {
  if (out.messages.size() > first) {
    Message& message = out.messages.back();
    Piece& last = out.pieces.back();
    if (last.first + last.count == t.block) {
      ++last.count;
      return;
    }
    if (message.pieces < kMostPieces) {
      ++message.pieces;
      out.pieces.push_back({t.block, 1, t.block});
      return;
    }
  }
  add(out, t, false);
}

// The multicasts of all ranks over each other: root r's is that of rank 0 with r added to its
// ranks, and its blocks are units r · blocks and on. In a step, what goes from one rank to another
// comes of all transfers of rank 0's plan that lead as far; so no list is made of what all roots
// send, which has n times as many. Of rank 0 alone, if all transfers of a step lead as far, only it
// and the rank that sends to it are asked.
void add_all_roots(const Plan& plan, CollectivePlan& out) {
  const std::uint32_t n = plan.ranks;
  const std::size_t made_of = out.first_alone ? 1 : plan.transfers.size();
  if (made_of > kMaxTransfers / n || plan.blocks > kMaxTransfers / n) {
    throw InputError(
        fmt::format("block: {} ranks send {} blocks each to all; expected at most {} "
                    "transfers together; use larger blocks",
                    n, plan.blocks, kMaxTransfers));
  }
  std::vector<std::uint32_t> units;
  for (auto begin = plan.transfers.begin(); begin != plan.transfers.end();) {
    const std::uint32_t step = begin->step;
    const auto end = std::find_if(begin, plan.transfers.end(),
                                  [&](const Transfer& t) { return t.step != step; });
    std::map<std::uint32_t, std::vector<const Transfer*>> as_far;
    for (auto t = begin; t != end; ++t) {
      as_far[(t->dst.value + n - t->src.value) % n].push_back(&*t);
    }
    for (const std::uint32_t src : out.senders(n, n - as_far.begin()->first)) {
      std::map<std::uint32_t, const std::vector<const Transfer*>*> to;
      for (const auto& [distance, transfers] : as_far) to[(src + distance) % n] = &transfers;
      for (const auto& [dst, transfers] : to) {
        units.clear();
        for (const Transfer* t : *transfers) {
          units.push_back((src + n - t->src.value) % n * plan.blocks + t->block);
        }
        std::sort(units.begin(), units.end());
        const auto first = static_cast<std::uint32_t>(out.messages.size());
        for (const std::uint32_t unit : units) {
          pack(out, first, {step, RankId(src), RankId(dst), unit});
        }
      }
    }
    begin = end;
  }
}

MulticastOptions without_bytes(MulticastOptions options) {
  options.bytes = 0;
  return options;
}

}  // namespace

CollectivePlan reduce_plan(const MulticastOptions& options, const std::string& by) {
  const Plan plan = multicast(options, by);
  CollectivePlan out = empty_collective(plan, options);
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
  CollectivePlan out = empty_collective(plan, options);
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
  CollectivePlan out = empty_collective(plan, options);
  cut_into_blocks(plan, plan.ranks, out);
  add_all_roots(plan, out);
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
