// The CPU lanes of a rank: operations that are ready wait here for their turn, in the order of the
// issue policy. The rules are those of machine/execution.h.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "hw/executor/program.h"
#include "machine/issue_policy.h"

namespace slackline::hw {

class Lanes {
 public:
  /// IssueOrder::sends_in_flight counts messages of more than `interleave_bytes`. The program must
  /// outlive this.
  Lanes(const RankProgram& program, const machine::IssueOrder& order,
        std::uint64_t interleave_bytes);

  std::size_t size() const { return lanes_.size(); }

  /// The operation is ready. Operations of one `instant` are equally old.
  void add(std::uint32_t op, std::uint64_t instant);

  struct Turn {
    std::uint32_t op = kNoOp;
    std::uint32_t behind = kNoOp;  // the operation that held the lane meanwhile
  };
  /// Takes the operation whose turn it is; nothing if there is none, or the lane is held. Large
  /// messages beyond the bound are put aside meanwhile.
  std::optional<Turn> next(std::size_t lane);

  /// The operation holds its lane, until it is released.
  void hold(std::uint32_t op);
  void release(std::uint32_t op);

  /// The operation, which had its turn, is done. Answers the one that was waiting for that, which
  /// is to be added again; kNoOp if there is none.
  std::uint32_t done(std::uint32_t op);

  /// Whether it counts for the bound: the executor must learn when it is done.
  bool is_bounded(std::uint32_t op) const;

  /// Nobody waits, nothing is held.
  void clear();

 private:
  struct Waiting {
    double place;  // the least goes first, then the lowest operation
    std::uint32_t op;
    std::uint32_t held;  // Lane::held when it came
    friend bool operator<(const Waiting& a, const Waiting& b) {
      return a.place != b.place ? a.place > b.place : a.op > b.op;
    }
  };
  using Heap = std::priority_queue<Waiting>;
  struct Lane {
    Heap ready;
    bool busy = false;
    std::uint32_t last = kNoOp;  // the last that held it
    std::uint32_t held = 0;      // how often it was held, up to now
  };

  const RankProgram& program_;
  const machine::IssueOrder order_;
  const std::uint64_t interleave_bytes_;
  std::vector<std::uint32_t> lane_of_op_;
  std::vector<Lane> lanes_;
  std::uint32_t in_flight_ = 0;
  Heap bounded_;
};

}  // namespace slackline::hw
