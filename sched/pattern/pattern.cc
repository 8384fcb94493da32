#include "sched/pattern/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/named.h"
#include "base/suggest.h"

namespace slackline::sched {

std::span<const PatternEntry> plan_patterns() {
  const auto all = patterns();
  const auto end =
      std::find_if(all.begin(), all.end(), [](const auto& p) { return p.plan == nullptr; });
  return {all.begin(), end};
}

const PatternEntry* find_pattern(std::string_view name) {
  return base::find_named(patterns(), name);
}

const PatternEntry* find_plan_pattern(std::string_view name) {
  return base::find_named(plan_patterns(), name);
}

const PatternEntry& pattern_named(std::string_view name) {
  if (const PatternEntry* found = find_pattern(name)) return *found;
  throw InputError(unknown_name("pattern", name, base::names_of(patterns())));
}

const Option* PatternEntry::find_option(std::string_view key) const {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Option& option) { return option.key == key; });
  return found == options.end() ? nullptr : &*found;
}

std::unique_ptr<StepSource> steps_of(const PatternEntry& pattern, const MulticastOptions& options) {
  return pattern.make_steps != nullptr ? pattern.make_steps(options)
                                       : steps_of(pattern.plan(options));
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
