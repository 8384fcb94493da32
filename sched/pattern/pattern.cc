#include "sched/pattern/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sched/error.h"
#include "sched/pattern/chain.h"

namespace slackline::sched {
namespace {

// A new pattern is one line here.
constexpr std::array kPatterns = {
    PatternEntry{"chain", "each rank relays every block to the next", chain},
};

}  // namespace

std::span<const PatternEntry> patterns() { return kPatterns; }

const PatternEntry* find_pattern(std::string_view name) {
  const auto found = std::find_if(kPatterns.begin(), kPatterns.end(),
                                  [&](const PatternEntry& entry) { return entry.name == name; });
  return found == kPatterns.end() ? nullptr : found;
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

Plan empty_plan(const MulticastOptions& options) {
  Plan plan;
  plan.ranks = options.ranks;
  plan.bytes = options.bytes;
  plan.block_bytes = options.block_bytes;
  plan.blocks = options.blocks();
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
  std::sort(plan.transfers.begin(), plan.transfers.end());
  return plan;
}

}  // namespace slackline::sched
