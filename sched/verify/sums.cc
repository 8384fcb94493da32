#include "sched/verify/sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace slackline::sched {
namespace {

bool is_sum(const Value& value) { return value.origin == Value::Origin::kSum; }
bool can_be_added(const Value& value) {
  return is_sum(value) || value.origin == Value::Origin::kContract;
}

}  // namespace

SumTable::Terms SumTable::terms_of(const Value& value) const {
  return is_sum(value) ? sums_[value.id] : Terms{value.id};
}

std::uint32_t SumTable::number_of(Terms terms) {
  const auto [found, added] =
      numbers_.try_emplace(std::move(terms), static_cast<std::uint32_t>(sums_.size()));
  if (added) sums_.push_back(found->first);
  return found->second;
}

std::optional<Value> SumTable::add(const Value& a, const Value& b) {
  if (!can_be_added(a) || !can_be_added(b) || a.offset != b.offset) return std::nullopt;
  const auto [made, added] =
      made_.try_emplace({{is_sum(a), a.id}, {is_sum(b), b.id}}, std::uint32_t{0});
  if (added) {
    const Terms left = terms_of(a);
    const Terms right = terms_of(b);
    Terms both;
    both.reserve(left.size() + right.size());
    std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both));
    made->second = number_of(std::move(both));
  }
  return Value{a.offset, made->second, Value::Origin::kSum};
}

Value SumTable::expected(const Fact& fact) {
  if (fact.terms == 1) return {fact.value_offset, fact.value.value, Value::Origin::kContract};
  Terms terms(fact.terms);
  std::iota(terms.begin(), terms.end(), fact.value.value);
  return {fact.value_offset, number_of(std::move(terms)), Value::Origin::kSum};
}

std::string SumTable::describe(const Value& sum) const {
  constexpr std::size_t kShown = 8;
  const Terms& terms = sums_[sum.id];
  const std::size_t shown = std::min(kShown, terms.size());
  const bool consecutive = terms.size() > 2 && terms.back() - terms.front() == terms.size() - 1 &&
                           std::adjacent_find(terms.begin(), terms.end()) == terms.end();
  const std::string list =
      consecutive
          ? fmt::format("{} to {}", terms.front(), terms.back())
          : fmt::format("{}", fmt::join(terms.begin(),
                                        terms.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  const std::string more =
      consecutive || shown == terms.size() ? "" : fmt::format(" and {} more", terms.size() - shown);
  return fmt::format("the sum of values {}{} from byte {}", list, more, sum.offset);
}

Pieces add(SumTable& sums, const Pieces& a, const Pieces& b, OpId op) {
  Pieces out;
  std::size_t i = 0;
  std::size_t j = 0;
  std::uint64_t used_a = 0;  // of piece i
  std::uint64_t used_b = 0;  // of piece j
  for (std::uint64_t at = 0; i < a.size() && j < b.size();) {
    Value left = a[i].value;
    Value right = b[j].value;
    left.offset += used_a;
    right.offset += used_b;
    const std::uint64_t bytes = std::min(a[i].bytes - used_a, b[j].bytes - used_b);
    const auto sum = sums.add(left, right);
    append(out, {sum ? *sum : Value{at, op.value, Value::Origin::kReduced}, bytes});
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
