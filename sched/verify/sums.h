// Sums of the contract's values, as reduces make them: exact, by their terms.
#pragma once

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
  /// them, from the same offset on.
  std::optional<Value> add(const Value& a, const Value& b);

  /// What a post fact says stands at the beginning of its slice.
  Value expected(const Fact& fact);

  /// "the sum of values 0, 1 and 5 from byte 0".
  std::string describe(const Value& sum) const;

 private:
  using Terms = std::vector<std::uint32_t>;  // ascending, one as often as it was added
  Terms terms_of(const Value& value) const;
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
