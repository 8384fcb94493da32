// What operations of a run are told by others of their rank, results and attempts as operands and
// addresses, and what their own results tell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sched/op_range.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::machine {

/// Whether a run can tell if the operation succeeded: a compare_swap, or one with a test.
bool is_tested(const sched::Schedule& schedule, const sched::Op& op);

/// Throws InputError if the operation is an atomic and its word, at this offset of its buffer, does
/// not begin at a multiple of 8: no NIC takes that for a word.
void require_aligned(const sched::Schedule& schedule, sched::OpId op, std::uint64_t offset);

/// Operations go by their place in a range, which holds all that they name.
class Operands {
 public:
  /// What a put, get or atomic is told when it is posted.
  struct Values {
    std::uint64_t operand = 0;
    std::uint64_t compare = 0;
    std::uint64_t shift = 0;  // bytes, of its remote slices
    friend bool operator==(const Values&, const Values&) = default;
  };

  /// Whether an operation of the range fetches something: results are kept then.
  static bool any_result(const sched::Schedule& schedule, sched::OpRange range);

  /// `times` are those of the range's operations, by which it is known whose results are there.
  /// `results` has one for each operation, what it fetched last and 0 at first; it may be empty if
  /// there is not any_result(). All references must outlive this.
  Operands(const sched::Schedule& schedule, sched::OpRange range,
           std::span<const sched::OpTimes> times, std::span<std::uint64_t> results);

  /// The operation is posted, at `now_s`. Throws InputError, naming both operations, where an
  /// operand is of one that is not done then; and where the address leaves its buffer, or is no
  /// word's that an atomic can work on.
  const Values& read(std::uint32_t op, double now_s = std::numeric_limits<double>::max());
  /// As they were when the operation was posted last.
  Values values(std::uint32_t op) const { return values_.empty() ? Values{} : values_[op]; }

  /// The operation has fetched this.
  void set_result(std::uint32_t op, std::uint64_t value) { results_[op] = value; }
  std::uint64_t result(std::uint32_t op) const { return results_[op]; }

  /// As in another run of the same; results are for the caller to copy.
  void resume(const Operands& other) { values_ = other.values_; }
  /// Whether the same was told and fetched in both runs.
  bool goes_on_as(const Operands& second) const {
    return values_ == second.values_ && std::equal(results_.begin(), results_.end(),
                                                   second.results_.begin(), second.results_.end());
  }

  /// Whether an operation, of which the result is there, did what it was to do: a compare_swap
  /// found what it expected, a tested result is as expected. All others always do.
  bool succeeded(std::uint32_t op) const;

 private:
  std::uint64_t value_of(std::uint32_t op, const sched::Operand& operand, double now_s) const;
  std::uint64_t shift_of(std::uint32_t op, const sched::Operand& by, double now_s) const;

  const sched::Schedule& schedule_;
  sched::OpRange range_;
  std::span<const sched::OpTimes> times_;
  std::span<std::uint64_t> results_;
  std::vector<Values> values_;  // of every operation, if any has arguments or a result
};

}  // namespace slackline::machine
