#include "offload/memory_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/error.h"

namespace slackline::offload {
namespace {

using sched::Slice;

constexpr std::size_t kMaxCells = std::size_t{1} << 24;

using Cuts = std::vector<std::set<std::uint64_t>>;  // by buffer

// The distances from the beginning of a run of pieces at which one of them is cut.
std::vector<std::uint64_t> cuts_along(std::span<const Slice> pieces, const Cuts& cuts) {
  std::vector<std::uint64_t> along;
  std::uint64_t begin = 0;
  for (const Slice& piece : pieces) {
    const auto& of = cuts[piece.buffer.value];
    for (auto at = of.lower_bound(piece.offset);
         at != of.end() && *at <= piece.offset + piece.bytes; ++at) {
      along.push_back(begin + (*at - piece.offset));
    }
    begin += piece.bytes;
  }
  return along;
}

bool cut_along(std::span<const Slice> pieces, const std::vector<std::uint64_t>& along, Cuts& cuts) {
  bool changed = false;
  for (const std::uint64_t at : along) {
    std::uint64_t begin = 0;
    for (const Slice& piece : pieces) {
      if (at >= begin && at <= begin + piece.bytes) {
        changed = cuts[piece.buffer.value].insert(piece.offset + (at - begin)).second || changed;
      }
      begin += piece.bytes;
    }
  }
  return changed;
}

// Each message beside what it lands in.
std::vector<std::pair<sched::SliceRange, sched::SliceRange>> moves(const QueueProgram& program) {
  std::vector<std::pair<sched::SliceRange, sched::SliceRange>> all;
  for (const Queue& q : program.queues()) {
    if (q.kind != QueueKind::kSend) continue;
    const auto receives = program.entries(program.queue(q.peer));
    std::size_t k = 0;
    for (const Entry& entry : program.entries(q)) {
      if (!is_message(entry.kind)) continue;
      if (entry.kind == EntryKind::kWrite) {
        all.emplace_back(entry.local, entry.remote);
      } else if (k < receives.size()) {
        all.emplace_back(entry.local, receives[k].local);
      }
      ++k;
    }
  }
  return all;
}

}  // namespace

MemoryMap::MemoryMap(const QueueProgram& program, const sched::Schedule& schedule) {
  Cuts cuts(program.buffers().size());
  const auto cut = [&](const Slice& slice) {
    cuts[slice.buffer.value].insert(slice.offset);
    cuts[slice.buffer.value].insert(slice.offset + slice.bytes);
  };
  for (const Slice& slice : program.slices()) cut(slice);
  for (const auto& fact : schedule.contract().pre) cut(fact.slice);
  for (const auto& fact : schedule.contract().post) cut(fact.slice);
  const auto all_moves = moves(program);
  for (bool changed = true; changed;) {
    changed = false;
    std::size_t count = 0;
    for (const auto& of : cuts) count += of.size();
    if (count > kMaxCells) {
      throw Unsupported(
          "offload: messages overlap in more than 2^24 pieces of memory, which the "
          "emulator does not follow");
    }
    for (const auto& [from, to] : all_moves) {
      const auto source = program.slices(from);
      const auto target = program.slices(to);
      changed = cut_along(target, cuts_along(source, cuts), cuts) || changed;
      changed = cut_along(source, cuts_along(target, cuts), cuts) || changed;
    }
  }

  // A cell reaches from one cut to the next.
  std::vector<std::uint32_t> first(program.buffers().size());
  std::vector<std::vector<std::uint64_t>> sorted(program.buffers().size());
  for (std::uint32_t b = 0; b < program.buffers().size(); ++b) {
    sorted[b].assign(cuts[b].begin(), cuts[b].end());
    first[b] = static_cast<std::uint32_t>(table_.size());
    for (std::size_t i = 0; i + 1 < sorted[b].size(); ++i) {
      table_.push_back({sched::BufferId(b), program.buffers()[b].rank, sorted[b][i]});
    }
  }
  const auto index = [&](std::uint32_t buffer, std::uint64_t offset) {
    const auto& of = sorted[buffer];
    return first[buffer] +
           static_cast<std::uint32_t>(std::lower_bound(of.begin(), of.end(), offset) - of.begin());
  };
  const auto cells_of = [&](const Slice& slice) {
    return std::pair(index(slice.buffer.value, slice.offset),
                     index(slice.buffer.value, slice.offset + slice.bytes));
  };
  initial_.resize(table_.size());
  expected_.resize(table_.size());
  const auto set = [&](const sched::Fact& fact, std::vector<CellContent>& contents) {
    const auto [begin, end] = cells_of(fact.slice);
    for (std::uint32_t c = begin; c < end; ++c) {
      contents[c] = {fact.value, fact.value_offset + (table_[c].offset - fact.slice.offset)};
    }
  };
  for (const auto& fact : schedule.contract().pre) set(fact, initial_);
  for (const auto& fact : schedule.contract().post) set(fact, expected_);

  begin_.push_back(0);
  for (const Entry& entry : program.entries()) {
    for (const sched::SliceRange range : {entry.local, entry.remote}) {
      for (const Slice& slice : program.slices(range)) {
        const auto [begin, end] = cells_of(slice);
        for (std::uint32_t c = begin; c < end; ++c) cells_.push_back(c);
      }
      begin_.push_back(static_cast<std::uint32_t>(cells_.size()));
    }
  }
}

std::string MemoryMap::describe(std::uint32_t cell) const {
  const Cell& c = table_[cell];
  return fmt::format("rank {}, buffer {} at {}", c.rank.value, c.buffer.value, c.offset);
}

}  // namespace slackline::offload
