// The memory of a program of tasks, and its contract, which is made up as the program is written.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/builder.h"

namespace slackline::sched {

/// Every piece is used for one thing only. Values are numbered at the end, since the terms of a sum
/// have to be neighbours.
class TaskMemory {
 public:
  using Value = std::uint32_t;  // before they are numbered
  using Sum = std::uint32_t;

  /// `out` must outlive this.
  TaskMemory(ScheduleBuilder& out, std::uint32_t ranks);

  /// Fresh memory, at a multiple of 8.
  Slice take(std::uint32_t rank, std::uint64_t bytes);
  /// A word that is never zero.
  Slice mark(std::uint32_t rank) const { return {marks_[rank], 0, 8}; }

  /// It gets at most so many values: room for them.
  void expect_values(std::uint64_t count);
  /// A value of its own stands there before the run.
  Value add_value(const Slice& slice);
  /// [offset, …) of a value stands there afterwards.
  void expect(const Slice& slice, Value value, std::uint64_t offset = 0);

  /// A word with a value of its own before the run, to which others are added.
  Sum add_sum(const Slice& word);
  /// Once for each time that the value's first bytes are added.
  void add_term(Sum sum, Value value) { terms_.push_back({sum, value}); }
  Value initial(Sum sum) const { return sums_[sum].initial; }

  /// Adds the facts to the builder. Throws InputError above 2^32 values.
  void finish();

 private:
  struct Arena {
    BufferId buffer;
    std::uint64_t used = 0;
    std::uint64_t bytes = 0;
  };
  struct Word {
    Slice slice;
    Value initial;
  };
  struct Term {
    Sum sum;
    Value value;
  };
  struct Expected {
    Slice slice;
    Value value;
    std::uint64_t offset;
  };

  ScheduleBuilder& out_;
  std::vector<Arena> arenas_;
  std::vector<BufferId> marks_;
  std::vector<Fact> values_;  // before the run; numbered at the end
  std::vector<Word> sums_;
  std::vector<Term> terms_;  // behind the initial ones
  std::vector<Expected> expected_;
};

}  // namespace slackline::sched
