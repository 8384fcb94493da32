#include "sched/workloads/tasks/task_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kLeastBuffer = 4096;
constexpr std::uint64_t kMostBuffer = 1u << 20;
constexpr std::uint64_t kMostMemory = 1ull << 47;  // of one rank: no machine has more
constexpr std::uint32_t kUnnumbered = 0xffffffffu;

}  // namespace

TaskMemory::TaskMemory(ScheduleBuilder& out, std::uint32_t ranks)
    : out_(out), arenas_(ranks), marks_(ranks) {
  for (std::uint32_t r = 0; r < ranks; ++r) marks_[r] = out_.add_buffer(RankId(r), 8);
}

// Buffers double in size, so that little is left over.
Slice TaskMemory::take(std::uint32_t rank, std::uint64_t bytes) {
  Arena& arena = arenas_[rank];
  if (bytes > kMostMemory) {
    throw InputError(fmt::format("{} bytes of memory at rank {}; expected at most {}", bytes, rank,
                                 kMostMemory));
  }
  const std::uint64_t rounded = (bytes + 7) / 8 * 8;
  if (rounded > arena.bytes - arena.used) {
    const std::uint64_t next = std::clamp(2 * arena.bytes, kLeastBuffer, kMostBuffer);
    arena.bytes = std::max(rounded, next);
    arena.used = 0;
    arena.buffer = out_.add_buffer(RankId(rank), arena.bytes);
  }
  const Slice slice{arena.buffer, arena.used, bytes};
  arena.used += rounded;
  return slice;
}

void TaskMemory::expect_values(std::uint64_t count) {
  constexpr std::uint64_t kMost = 1u << 24;
  values_.reserve(std::min(count, kMost) + marks_.size());
}

TaskMemory::Value TaskMemory::add_value(const Slice& slice) {
  if (values_.size() == kUnnumbered - 1) {
    throw InputError("more than 2^32 - 2 records and words; expected a smaller workload");
  }
  values_.push_back({slice, ValueId(), 0});
  return static_cast<Value>(values_.size() - 1);
}

void TaskMemory::expect(const Slice& slice, Value value, std::uint64_t offset) {
  expected_.push_back({slice, value, offset});
}

TaskMemory::Sum TaskMemory::add_sum(const Slice& word) {
  sums_.push_back({word, add_value(word)});
  return static_cast<Sum>(sums_.size() - 1);
}

void TaskMemory::finish() {
  // A sum's terms are neighbours, its initial one first, the others in the order in which they were
  // added. What is a term of several goes by the last of these sums.
  std::vector<std::uint32_t> count(sums_.size(), 1);
  for (const Term& term : terms_) ++count[term.sum];
  std::vector<std::uint32_t> first(sums_.size());
  std::uint32_t next = 0;
  for (std::size_t s = 0; s < sums_.size(); ++s) first[s] = std::exchange(next, next + count[s]);
  std::vector<std::uint32_t> number(values_.size(), kUnnumbered);
  const auto give = [&](Value value, std::uint32_t given) {
    std::uint32_t& now = number[value];
    if (now == kUnnumbered || now < given) now = given;
  };
  std::vector<std::uint32_t> free = first;  // where the next term of each sum stands
  for (std::size_t s = 0; s < sums_.size(); ++s) give(sums_[s].initial, free[s]++);
  for (const Term& term : terms_) give(term.value, free[term.sum]++);
  for (std::uint32_t& n : number) {
    if (n == kUnnumbered) n = next++;
  }
  for (std::size_t v = 0; v < values_.size(); ++v) values_[v].value = ValueId(number[v]);
  for (const BufferId mark : marks_) values_.push_back({{mark, 0, 8}, ValueId(next), 0});
  out_.set_pre(std::move(values_));
  out_.reserve_facts(0, sums_.size() + expected_.size());
  for (std::size_t s = 0; s < sums_.size(); ++s) {
    out_.add_post({sums_[s].slice, ValueId(number[sums_[s].initial]), 0, count[s]});
  }
  for (const Expected& e : expected_) {
    out_.add_post({e.slice, ValueId(number[e.value]), e.offset});
  }
}

}  // namespace slackline::sched
