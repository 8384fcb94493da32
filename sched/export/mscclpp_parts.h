// What each operation of a schedule becomes in an execution plan of MSCCL++, and what it waits for
// there.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "sched/event_graph.h"
#include "sched/schedule.h"

namespace slackline::sched {

enum class MscclppPart : std::uint8_t {
  kNone,    // nothing: what waits for it waits for what it waits for
  kSource,  // puts, and a signal if somebody waits for it
  kWait,
  kGet,
  kCopy,
  kReduce,
};

/// A piece that moves from one place to one.
struct MscclppMove {
  Slice from;
  Slice to;
};

/// Immutable. The schedule must outlive it.
class MscclppParts {
 public:
  /// Throws Unsupported as write_mscclpp() says.
  explicit MscclppParts(const Schedule& schedule);

  MscclppPart of(OpId id) const { return part_[id.value]; }
  /// What a put, a get or a copy moves: none if it is news without data.
  const std::vector<MscclppMove>& moves(OpId id) const { return moves_[id.value]; }
  /// The operations of its rank whose end must come before it is issued.
  const std::vector<OpId>& awaited(OpId id) const { return awaited_[id.value]; }
  /// Of a receive, whether its sender must be told that it may write: into memory that something
  /// else uses, too, where no credits keep the two apart.
  bool needs_ready(OpId id) const { return ready_[id.value]; }
  const ChannelOrder& order() const { return order_; }

  /// All memory that is read or written.
  std::vector<Slice> touched() const;
  /// By buffer, whether credits are in it.
  std::vector<bool> credit_buffers() const;

  [[noreturn]] void refuse(OpId id, std::string_view why) const;
  [[noreturn]] void refuse_length(OpId id) const;

 private:
  bool is_control(OpId source) const;
  void sort_out(OpId id);
  void move(OpId id, SliceRange reads, SliceRange writes);
  void check_counts() const;
  void find_awaited();
  void find_ready();
  template <class Visit>
  void for_each_touch(OpId id, Visit&& visit) const;

  const Schedule& schedule_;
  ChannelOrder order_;
  std::vector<bool> control_;  // by channel
  std::vector<MscclppPart> part_;
  std::vector<std::vector<MscclppMove>> moves_;
  std::vector<std::vector<OpId>> awaited_;
  std::vector<bool> ready_;
};

}  // namespace slackline::sched
