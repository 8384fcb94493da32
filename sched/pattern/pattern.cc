#include "sched/pattern/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "sched/error.h"
#include "sched/pattern/binary_tree.h"
#include "sched/pattern/binomial_pipeline.h"
#include "sched/pattern/binomial_tree.h"
#include "sched/pattern/breadth_first_search.h"
#include "sched/pattern/call.h"
#include "sched/pattern/chain.h"
#include "sched/pattern/circulant.h"
#include "sched/pattern/collective_series.h"
#include "sched/pattern/double_tree.h"
#include "sched/pattern/hash_table.h"
#include "sched/pattern/hex_search.h"
#include "sched/pattern/hybrid.h"
#include "sched/pattern/queue.h"
#include "sched/pattern/random_access.h"
#include "sched/pattern/ring_buffer.h"
#include "sched/pattern/scatter_allgather.h"
#include "sched/pattern/sequential.h"
#include "sched/pattern/tree_search.h"

namespace slackline::sched {
namespace {

// A new pattern is one line here.
constexpr std::array kPatterns = {
    PatternEntry{"sequential", "the root sends the message to one rank after the other",
                 sequential},
    PatternEntry{"chain", "each rank relays every block to the next", chain},
    PatternEntry{"binomial-tree", "whole messages along a binomial tree", binomial_tree},
    PatternEntry{"binomial-pipeline", "blocks along the edges of a hypercube, RDMC's best",
                 binomial_pipeline, false, binomial_pipeline_steps},
    PatternEntry{"circulant", "round-optimal for any number of ranks by one rule", circulant},
    PatternEntry{"hybrid", "binomial pipeline among rack leaders, then within each rack", hybrid,
                 true},
    PatternEntry{"scatter-allgather", "binomial scatter of pieces, then a ring", scatter_allgather},
    PatternEntry{"binary-tree", "blocks pipelined down a complete binary tree", binary_tree},
    PatternEntry{"double-tree", "even blocks down one binary tree, odd ones down another",
                 double_tree},
};

constexpr std::array<std::string_view, 6> kRingOptions = {"ranks",    "bytes", "root",
                                                          "messages", "slots", "consume"};
// No `start`: the receives of operands wait for slots, and those of sums for what stood there, so
// that a rank cannot post the first of every channel at once.
constexpr std::array<std::string_view, 10> kReduceOptions = {
    "ranks", "bytes", "block", "root", "by", "in-flight", "ready", "window", "messages", "slots"};
constexpr std::array<std::string_view, 9> kAllgatherOptions = {
    "ranks", "bytes", "block", "by", "in-flight", "ready", "start", "window", "messages"};
constexpr std::array<std::string_view, 7> kBarrierOptions = {
    "ranks", "by", "in-flight", "ready", "start", "window", "messages"};

constexpr std::array<std::string_view, 14> kCallOptions = {
    "ranks",  "bytes",       "root",   "messages", "slots",   "via",         "chunk",
    "chunks", "chunk-limit", "notify", "signal",   "handler", "aggregation", "flush"};

constexpr std::array<std::string_view, 18> kAccessOptions = {
    "ranks",    "by",          "handler", "seed",  "tasks",   "switch",
    "record",   "aggregation", "flush",   "age",   "cores",   "group",
    "accesses", "words",       "access",  "cache", "address", "cache-bytes"};
constexpr std::array<std::string_view, 14> kTreeOptions = {
    "ranks", "handler", "seed",  "tasks", "switch", "record", "aggregation",
    "flush", "age",     "cores", "group", "work",   "tree",   "depth"};
constexpr std::array<std::string_view, 14> kBreadthOptions = {
    "ranks", "handler", "seed",  "tasks", "switch", "record",      "aggregation",
    "flush", "age",     "cores", "group", "scale",  "edge-factor", "threshold"};
constexpr std::array<std::string_view, 15> kHexOptions = {
    "ranks", "handler", "seed",  "tasks", "switch",   "record",   "aggregation", "flush",
    "age",   "cores",   "group", "work",  "rollouts", "playouts", "bundle"};
constexpr std::array<std::string_view, 6> kOneSidedOptions = {"ranks",     "operations", "op",
                                                              "variables", "seed",       "handler"};
constexpr std::array<std::string_view, 15> kTableOptions = {
    "ranks", "operations", "op",      "phases",   "level",      "via",     "slots",    "load",
    "seed",  "clients",    "compute", "progress", "contention", "handler", "in-flight"};
constexpr std::array<std::string_view, 15> kQueueOptions = {
    "ranks", "operations", "op",      "phases",   "level",      "via",     "slots",    "queues",
    "seed",  "clients",    "compute", "progress", "contention", "handler", "in-flight"};

constexpr std::array kSeriesPatterns = {
    SeriesEntry{"ring-buffer", "small messages written into bounded buffers, one per receiver",
                ring_buffer, ring_buffer_ops, kRingOptions, true, false, BusUse::kOnce},
    SeriesEntry{"reduce", "a multicast backwards: the sum of all ranks' values at the root", reduce,
                reduce_ops, kReduceOptions, false, true, BusUse::kOnce},
    SeriesEntry{"allreduce", "a reduce, then the multicast of its sum", allreduce, allreduce_ops,
                kReduceOptions, false, true, BusUse::kThereAndBack},
    SeriesEntry{"allgather", "every rank's bytes to all, as multicasts from all ranks at once",
                allgather, allgather_ops, kAllgatherOptions, false, true, BusUse::kAllToAll},
    SeriesEntry{"barrier", "no rank leaves before every rank has come", barrier, barrier_ops,
                kBarrierOptions, false, true},
    SeriesEntry{"call", "Seriema's call: the root has every other rank run a function", call,
                call_ops, kCallOptions},
    SeriesEntry{"call-buffer", "a call with its buffer transmitted in it", call, call_ops,
                kCallOptions},
    SeriesEntry{"call-buffer-write", "a buffer written into the target's, and then the call",
                call_buffer_write, call_ops, kCallOptions},
    SeriesEntry{"call-buffer-read", "a call whose target reads the caller's buffer first",
                call_buffer_read, call_ops, kCallOptions},
    SeriesEntry{"call-return", "a call whose result is written back to the caller", call_return,
                call_ops, kCallOptions},
    SeriesEntry{"broadcast", "a call to all ranks along a binomial tree", broadcast, call_ops,
                kCallOptions},
    SeriesEntry{"broadcast-buffer", "a broadcast with its buffer transmitted in it", broadcast,
                call_ops, kCallOptions},
    SeriesEntry{"broadcast-buffer-write", "buffers written down the tree, each before its call",
                broadcast_buffer_write, call_ops, kCallOptions},
    SeriesEntry{"broadcast-buffer-read", "a broadcast in which each rank reads its parent's buffer",
                broadcast_buffer_read, call_ops, kCallOptions},
    SeriesEntry{"random-access", "uniform random access to global memory, by many tasks a core",
                random_access, random_access_ops, kAccessOptions},
    SeriesEntry{"tree-search", "an unbalanced tree of the UTS benchmark, by tasks that steal work",
                tree_search, tree_search_ops, kTreeOptions},
    SeriesEntry{"breadth-first-search", "a Kronecker graph, level by level, by parallel loops",
                breadth_first_search, breadth_first_search_ops, kBreadthOptions},
    SeriesEntry{"hex-search", "a Monte-Carlo tree search over Hex, its vertices spread at random",
                hex_search, hex_search_ops, kHexOptions},
    SeriesEntry{"one-sided", "one operation after the other, each at a random rank", one_sided,
                one_sided_ops, kOneSidedOptions},
    SeriesEntry{"hash-table", "inserts and finds in a distributed table, by RDMA or by call",
                hash_table, structure_ops, kTableOptions},
    SeriesEntry{"queue", "pushes and pops of hosted queues, by RDMA or by call", queue,
                structure_ops, kQueueOptions},
};

template <class Entry, std::size_t n>
const Entry* find_in(const std::array<Entry, n>& entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

std::span<const PatternEntry> patterns() { return kPatterns; }

const PatternEntry* find_pattern(std::string_view name) { return find_in(kPatterns, name); }

std::unique_ptr<StepSource> steps_of(const PatternEntry& pattern, const MulticastOptions& options) {
  return pattern.make_steps != nullptr ? pattern.make_steps(options)
                                       : steps_of(pattern.make(options));
}

std::span<const SeriesEntry> series_patterns() { return kSeriesPatterns; }

const SeriesEntry* find_series_pattern(std::string_view name) {
  return find_in(kSeriesPatterns, name);
}

std::uint32_t MulticastOptions::blocks() const {
  const std::uint64_t count = bytes == 0 ? 1 : (bytes - 1) / block_bytes + 1;
  if (count > (1ull << 31)) {
    throw InputError(
        fmt::format("block: {} bytes in blocks of {} make {} blocks; expected at most "
                    "2147483648",
                    bytes, block_bytes, count));
  }
  return static_cast<std::uint32_t>(count);
}

void check(const MulticastOptions& options) {
  if (options.ranks == 0) throw InputError("ranks: 0; expected at least 1");
  if (options.block_bytes == 0) throw InputError("block: 0 bytes; expected at least 1");
  if (options.root.value >= options.ranks) {
    throw InputError(fmt::format("root: {} is no rank; expected 0 to {}", options.root.value,
                                 options.ranks - 1));
  }
}

Plan empty_plan(const MulticastOptions& options) {
  check(options);
  Plan plan;
  plan.ranks = options.ranks;
  plan.bytes = options.bytes;
  plan.block_bytes = options.block_bytes;
  plan.blocks = options.blocks();
  const std::uint64_t transfers = std::uint64_t{plan.ranks - 1} * plan.blocks;
  if (transfers > kMaxTransfers) {
    throw InputError(fmt::format(
        "block: {} blocks to {} ranks make {} transfers; expected at most {}; use larger blocks",
        plan.blocks, plan.ranks - 1, transfers, kMaxTransfers));
  }
  return plan;
}

Plan with_root(Plan plan, RankId root) {
  plan.root = root;
  if (root == RankId(0)) return plan;
  const auto rename = [root](RankId rank) {
    return rank == RankId(0) ? root : rank == root ? RankId(0) : rank;
  };
  for (Transfer& transfer : plan.transfers) {
    transfer.src = rename(transfer.src);
    transfer.dst = rename(transfer.dst);
  }
  // Insertion sort: in each step at most two transfers, those sent by the exchanged ranks, are out
  // of place.
  std::vector<Transfer>& all = plan.transfers;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Transfer transfer = all[i];
    std::size_t hole = i;
    for (; hole > 0 && transfer < all[hole - 1]; --hole) all[hole] = all[hole - 1];
    all[hole] = transfer;
  }
  return plan;
}

std::uint32_t floor_log2(std::uint32_t value) {
  return static_cast<std::uint32_t>(std::bit_width(value)) - 1;
}

std::uint32_t ceil_log2(std::uint32_t value) {
  return static_cast<std::uint32_t>(std::bit_width(value - 1));
}

}  // namespace slackline::sched
