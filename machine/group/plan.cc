#include "machine/group/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "base/error.h"

namespace slackline::machine {
namespace {

constexpr std::array<std::string_view, 7> kPatterns = {
    "binomial-pipeline", "chain",       "sequential", "binomial-tree",
    "binary-tree",       "double-tree", "hybrid"};

// Schedules that are kept: so many, and together of so many operations.
constexpr std::size_t kMostKept = 64;
constexpr std::uint64_t kMostOpsKept = 1u << 22;

// With so many blocks every channel of these patterns is in use: they repeat every 2·⌈log2 n⌉
// steps once every rank has a block.
std::uint64_t many_blocks(std::uint32_t members) {
  return 8 + 4 * static_cast<std::uint64_t>(std::bit_width(members));
}

sched::Spec spec_of(const GroupShape& shape, std::uint64_t blocks) {
  GroupShape small = shape;
  small.block_bytes = 1;
  return sched::parse_spec(small.spec(blocks));
}

std::string_view name_of(sched::Ready ready) {
  return ready == sched::Ready::kSend ? "send" : "none";
}

}  // namespace

std::string GroupShape::spec(std::uint64_t bytes) const {
  return fmt::format("{}:ranks={},bytes={},block={},in-flight={},first-block=copy,ready={}{}",
                     pattern, members, bytes, block_bytes, in_flight, name_of(ready),
                     ready == sched::Ready::kSend ? fmt::format(",window={}", window) : "");
}

std::span<const std::string_view> group_patterns() { return kPatterns; }

std::vector<sched::RankId> first_sources(const sched::Plan& plan) {
  std::vector<sched::RankId> sources(plan.ranks);
  for (const sched::Transfer& t : plan.transfers) {
    if (!sources[t.dst.value].valid()) sources[t.dst.value] = t.src;
  }
  return sources;
}

sched::Plan tree_of_first_blocks(const sched::Plan& longer, std::uint64_t bytes) {
  sched::Plan tree = longer;
  tree.title += ", its first blocks only";
  tree.bytes = bytes;
  tree.block_bytes = std::max<std::uint64_t>(1, bytes);
  tree.blocks = 1;
  tree.steps = 0;
  tree.transfers.clear();
  tree.delivers_twice = false;
  std::vector<bool> has(longer.ranks, false);
  for (sched::Transfer t : longer.transfers) {
    if (has[t.dst.value]) continue;
    has[t.dst.value] = true;
    t.block = 0;
    tree.transfers.push_back(t);
    tree.steps = t.step + 1;
  }
  return tree;
}

GroupPlan::GroupPlan(GroupShape shape) : shape_(std::move(shape)) {
  if (std::ranges::find(kPatterns, shape_.pattern) == kPatterns.end()) {
    if (sched::find_pattern(shape_.pattern) == nullptr) {
      sched::parse_spec(shape_.spec(1));  // throws, with what there is
    }
    throw Unsupported(
        fmt::format("pattern: groups cannot take {}, in which the source of a rank's first block "
                    "depends on the message's size; expected one of {}",
                    shape_.pattern, fmt::join(kPatterns, ", ")));
  }
  if (shape_.ready == sched::Ready::kWrite) {
    throw Unsupported("ready: groups cannot take write; expected send or none");
  }
  if (shape_.window == 0) throw InputError("window: 0 is out of range; expected at least 1");
  if (shape_.block_bytes == 0 || shape_.block_bytes > kMostGroupBytes) {
    throw InputError(fmt::format("block: {} is out of range; expected 1 to {}", shape_.block_bytes,
                                 kMostGroupBytes));
  }
  add_lines();
}

void GroupPlan::add_lines() {
  const sched::Schedule schedule = sched::compile(spec_of(shape_, many_blocks(shape_.members)));
  const std::vector<bool> control = schedule.control_channels();
  for (std::uint32_t c = 0; c < schedule.channels().size(); ++c) {
    const sched::Channel& channel = schedule.channels()[c];
    lines_.push_back({channel.src.value, channel.dst.value, control[c]});
    line_number_.emplace(lines_.back(), c);
  }
  credit_of_.assign(lines_.size(), kNoLine);
  for (std::uint32_t l = 0; l < lines_.size(); ++l) {
    if (lines_[l].credit) continue;
    const auto credit = line_number_.find({lines_[l].dst, lines_[l].src, true});
    if (credit != line_number_.end()) credit_of_[l] = credit->second;
  }
  const std::vector<sched::RankId> sources = first_sources(sched::plan_of(spec_of(shape_, 2)));
  first_line_.assign(shape_.members, kNoLine);
  for (std::uint32_t m = 0; m < shape_.members; ++m) {
    if (sources[m].valid()) first_line_[m] = line_number_.at({sources[m].value, m, false});
  }
}

std::shared_ptr<const GroupMessage> GroupPlan::message(std::uint64_t bytes) {
  if (bytes > kMostGroupBytes) {
    throw InputError(
        fmt::format("send: {} bytes; a group's messages have at most {}", bytes, kMostGroupBytes));
  }
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, bytes, &Kept::bytes);
    if (found != kept_.end()) {
      std::rotate(found, found + 1, kept_.end());
      return kept_.back().message;
    }
  }
  std::shared_ptr<const GroupMessage> message = make(bytes);
  const std::lock_guard lock(mutex_);
  kept_.push_back({bytes, message});
  std::uint64_t ops = 0;
  for (const Kept& kept : kept_) ops += kept.message->schedule.op_count();
  while (kept_.size() > 1 && (kept_.size() > kMostKept || ops > kMostOpsKept)) {
    ops -= kept_.front().message->schedule.op_count();
    kept_.erase(kept_.begin());
  }
  return message;
}

std::shared_ptr<const GroupMessage> GroupPlan::make(std::uint64_t bytes) const {
  const sched::Spec spec = sched::parse_spec(shape_.spec(bytes));
  auto message = [&] {
    if (spec.multicast.blocks() == 1) {
      const sched::Plan longer = sched::plan_of(spec_of(shape_, 2));
      if (first_sources(sched::plan_of(spec)) != first_sources(longer)) {
        const sched::Plan tree = tree_of_first_blocks(longer, bytes);
        if (shape_.ready == sched::Ready::kNone) {
          return sched::lower_transfers(tree, spec.transfers);
        }
        return sched::lower_credits(sched::draft_transfers(tree, spec.transfers), spec.credits);
      }
    }
    return sched::compile(spec);
  }();
  auto made = std::make_shared<GroupMessage>(GroupMessage{std::move(message), {}, {}});
  const sched::Schedule& schedule = made->schedule;
  const std::vector<bool> control = schedule.control_channels();
  for (std::uint32_t c = 0; c < schedule.channels().size(); ++c) {
    const sched::Channel& channel = schedule.channels()[c];
    const auto line = line_number_.find({channel.src.value, channel.dst.value, control[c]});
    if (line == line_number_.end()) {
      throw InternalError(fmt::format("{}: a channel from {} to {} that the group did not open",
                                      schedule.title(), channel.src.value, channel.dst.value));
    }
    made->line_of_channel.push_back(line->second);
  }
  made->staging.resize(shape_.members);
  for (std::uint32_t b = shape_.members; b < schedule.buffers().size(); ++b) {
    made->staging[schedule.buffers()[b].rank.value] = sched::BufferId(b);
  }
  return made;
}

}  // namespace slackline::machine
