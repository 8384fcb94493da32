// Sums of the contract's values, as reduces make them: exact, by their terms.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sched/op.h"
#include "sched/verify/values.h"

namespace slackline::sched {

/// Every sum has one number, whatever order its terms came in; the same terms, each as often, are
/// the same sum.
class SumTable {
 public:
  /// The sum of two pieces of memory. Nothing unless both hold values of the contract or sums of
  /// them, from the same offset on, and none of these is in them 2^64 times.
  std::optional<SymbolicValue> add(const SymbolicValue& a, const SymbolicValue& b);

  /// What a post fact says stands at the beginning of its slice.
  SymbolicValue expected(const Fact& fact);

  /// "the sum of values 0, 1 and 5 from byte 0".
  std::string describe(const SymbolicValue& sum) const;

 private:
  // Values [first, end), each `times` times. What is added up one call after another is one run,
  // however many calls there are.
  struct TermRun {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::uint64_t times = 0;
    friend constexpr auto operator<=>(const TermRun&, const TermRun&) = default;
  };
  using Terms = std::vector<TermRun>;  // ascending; neighbours are apart or differ in `times`
  Terms terms_of(const SymbolicValue& value) const;
  // Nothing if a value were in it 2^64 times.
  static std::optional<Terms> both_of(const Terms& left, const Terms& right);
  std::uint32_t number_of(Terms terms);

  std::vector<Terms> sums_;
  std::map<Terms, std::uint32_t> numbers_;
  // The sums made so far, by their operands' (sum or not, number): trees add the same few again and
  // again.
  using Part = std::pair<bool, std::uint32_t>;
  std::map<std::pair<Part, Part>, std::uint32_t> made_;
};

/// Adds a second operand of a reduce, piece by piece. Both are equally long. What cannot be added
/// becomes a value of its own, which only `op` made.
Pieces add(SumTable& sums, const Pieces& a, const Pieces& b, OpId op);

}  // namespace slackline::sched
