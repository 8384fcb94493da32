#include "sched/verify/sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace slackline::sched {
namespace {

bool is_sum(const SymbolicValue& value) { return value.origin == SymbolicValue::Origin::kSum; }
bool can_be_added(const SymbolicValue& value) {
  return is_sum(value) || value.origin == SymbolicValue::Origin::kContract;
}

}  // namespace

SumTable::Terms SumTable::terms_of(const SymbolicValue& value) const {
  return is_sum(value) ? sums_[value.id] : Terms{{value.id, std::uint64_t{value.id} + 1, 1}};
}

std::optional<SumTable::Terms> SumTable::both_of(const Terms& left, const Terms& right) {
  Terms both;
  const auto add = [&both](TermRun run) {
    if (!both.empty() && both.back().end == run.first && both.back().times == run.times) {
      both.back().end = run.end;
    } else {
      both.push_back(run);
    }
  };
  auto a = left.begin();
  auto b = right.begin();
  std::uint64_t at = 0;  // values below it are in `both`
  while (a != left.end() || b != right.end()) {
    // From `at` on up to the first place where what is there changes.
    const bool in_a = a != left.end() && a->first <= at;
    const bool in_b = b != right.end() && b->first <= at;
    std::uint64_t until = std::numeric_limits<std::uint64_t>::max();
    if (a != left.end()) until = std::min(until, in_a ? a->end : a->first);
    if (b != right.end()) until = std::min(until, in_b ? b->end : b->first);
    std::uint64_t times = 0;
    if (__builtin_add_overflow(in_a ? a->times : 0, in_b ? b->times : 0, &times)) {
      return std::nullopt;
    }
    if (times != 0) add({at, until, times});
    at = until;
    if (a != left.end() && a->end == at) ++a;
    if (b != right.end() && b->end == at) ++b;
  }
  return both;
}

std::uint32_t SumTable::number_of(Terms terms) {
  const auto [found, added] =
      numbers_.try_emplace(std::move(terms), static_cast<std::uint32_t>(sums_.size()));
  if (added) sums_.push_back(found->first);
  return found->second;
}

std::optional<SymbolicValue> SumTable::add(const SymbolicValue& a, const SymbolicValue& b) {
  if (!can_be_added(a) || !can_be_added(b) || a.offset != b.offset) return std::nullopt;
  const std::pair<Part, Part> parts{{is_sum(a), a.id}, {is_sum(b), b.id}};
  auto made = made_.find(parts);
  if (made == made_.end()) {
    std::optional<Terms> both = both_of(terms_of(a), terms_of(b));
    if (!both) return std::nullopt;
    made = made_.emplace(parts, number_of(std::move(*both))).first;
  }
  return SymbolicValue{a.offset, made->second, SymbolicValue::Origin::kSum};
}

SymbolicValue SumTable::expected(const Fact& fact) {
  if (fact.terms == 1)
    return {fact.value_offset, fact.value.value, SymbolicValue::Origin::kContract};
  const std::uint64_t first = fact.value.value;
  return {fact.value_offset, number_of({{first, first + fact.terms, 1}}),
          SymbolicValue::Origin::kSum};
}

std::string SumTable::describe(const SymbolicValue& sum) const {
  constexpr std::size_t kShown = 8;
  const Terms& terms = sums_[sum.id];
  std::uint64_t count = 0;
  std::vector<std::uint64_t> first_few;
  for (const TermRun& run : terms) {
    count += (run.end - run.first) * run.times;
    for (std::uint64_t value = run.first; value < run.end && first_few.size() < kShown; ++value) {
      const std::uint64_t room = kShown - first_few.size();
      first_few.insert(first_few.end(), std::min(run.times, room), value);
    }
  }
  const bool consecutive = count > 2 && terms.size() == 1 && terms.front().times == 1;
  const std::string list = consecutive
                               ? fmt::format("{} to {}", terms.front().first, terms.front().end - 1)
                               : fmt::format("{}", fmt::join(first_few, ", "));
  const std::string more = consecutive || count == first_few.size()
                               ? ""
                               : fmt::format(" and {} more", count - first_few.size());
  return fmt::format("the sum of values {}{} from byte {}", list, more, sum.offset);
}

Pieces add(SumTable& sums, const Pieces& a, const Pieces& b, OpId op) {
  Pieces out;
  std::size_t i = 0;
  std::size_t j = 0;
  std::uint64_t used_a = 0;  // of piece i
  std::uint64_t used_b = 0;  // of piece j
  for (std::uint64_t at = 0; i < a.size() && j < b.size();) {
    SymbolicValue left = a[i].value;
    SymbolicValue right = b[j].value;
    left.offset += used_a;
    right.offset += used_b;
    const std::uint64_t bytes = std::min(a[i].bytes - used_a, b[j].bytes - used_b);
    const auto sum = sums.add(left, right);
    append(out, {sum ? *sum : SymbolicValue{at, op.value, SymbolicValue::Origin::kReduced}, bytes});
    at += bytes;
    used_a += bytes;
    used_b += bytes;
    if (used_a == a[i].bytes) {
      ++i;
      used_a = 0;
    }
    if (used_b == b[j].bytes) {
      ++j;
      used_b = 0;
    }
  }
  return out;
}

}  // namespace slackline::sched
