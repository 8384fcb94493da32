// What operations of a rank are told by others of it, results and attempts as operands and
// addresses, and what their own results tell.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/executor/program.h"
#include "sched/trace.h"

namespace slackline::hw {

/// The results of one rank's atomics and gets, and what is made of them. The rules and the texts
/// are those of machine/run_memory.h.
class Operands {
 public:
  /// What an operation is told when it is posted.
  struct Values {
    std::uint64_t operand = 0;
    std::uint64_t compare = 0;
    std::uint64_t shift = 0;  // bytes, of its remote slices
  };

  /// `times` are those of the program's operations, by which it is known whose results are there.
  /// Both must outlive this.
  Operands(const RankProgram& program, std::span<const sched::OpTimes> times);

  /// No operation has a result.
  void reset();

  /// The operation is posted now. Throws InputError, naming both operations, where an operand is of
  /// one that is not done, and where the address leaves its buffer.
  const Values& read(std::uint32_t op);
  /// As they were when the operation was posted last.
  Values values(std::uint32_t op) const { return values_.empty() ? Values{} : values_[op]; }

  /// The operation has fetched this.
  void set_result(std::uint32_t op, std::uint64_t value) { results_[op] = value; }
  /// What each operation fetched last; 0 for those that fetch nothing. Empty if none does.
  std::span<const std::uint64_t> results() const { return results_; }
  /// Whether an operation, of which the result is there, did what it was to do: a compare_swap
  /// found what it expected, a tested result is as expected. All others always do.
  bool succeeded(std::uint32_t op) const;

 private:
  std::uint64_t value_of(std::uint32_t op, const sched::Operand& operand) const;
  std::uint64_t shift_of(std::uint32_t op) const;

  const RankProgram& program_;
  const sched::Schedule& schedule_;
  std::span<const sched::OpTimes> times_;
  std::vector<Values> values_;          // of every operation, if any has arguments or a result
  std::vector<std::uint64_t> results_;  // likewise, if any has a result
  std::vector<bool> tested_;            // likewise
};

}  // namespace slackline::hw
