// One rank's part of a schedule, as the executor carries it out. Made from the rank's own
// operations, edges and regions alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/transport.h"
#include "machine/run/graph.h"
#include "sched/schedule.h"

namespace slackline::hw {

inline constexpr std::uint32_t kNoOp = 0xffffffffu;

/// Operations are numbered within the rank, from 0.
class RankProgram {
 public:
  /// Throws Unsupported, naming the operation, for what transports have no request for, and for
  /// channels that gather messages; InputError for a message without its other half, for polls that
  /// look at other bytes than their put's last, and for regions that overlap or that nothing
  /// decides. The schedule must outlive this.
  RankProgram(const sched::Schedule& schedule, sched::RankId rank);

  const sched::Schedule& schedule() const { return schedule_; }
  sched::RankId rank() const { return rank_; }
  std::uint32_t size() const { return graph_.range().count; }
  sched::OpId id(std::uint32_t op) const { return graph_.range().id(op); }
  const sched::Op& op(std::uint32_t op) const { return schedule_.op(id(op)); }
  /// Who waits for whom.
  const machine::RunGraph& graph() const { return graph_; }

  /// The operation before it on its side of its channel; kNoOp for the first, and where there is
  /// none.
  std::uint32_t previous(std::uint32_t op) const { return previous_[op]; }

  /// A send's or notifying put's number on its channel, and that of the message a receive waits
  /// for, modulo 2^32: the immediate that the message carries. Of a rank with regions: what it
  /// would be without them.
  std::uint32_t message(std::uint32_t op) const { return message_[op]; }

  /// Of a receive: whether a put with immediate meets it, and not a send. On a channel where both
  /// do and regions decide which comes when, it is taken to be of the kind of Op::match.
  bool expects_put(std::uint32_t op) const { return expects_put_[op]; }

  /// Polls whose flag is read again by this rank, by a later poll or another turn of this one:
  /// cleared once seen.
  bool clears_flag(std::uint32_t op) const { return clears_flag_[op]; }

  /// The ends of the channels this rank uses, by number.
  std::span<const ChannelEnd> ends() const { return ends_; }

 private:
  void require_supported() const;
  void follow_channels();
  void mark_flags();
  void mark_puts();
  void mark_ends();
  bool is_in_region(std::uint32_t op) const {
    return graph_.tree().around(op) != sched::RegionTree::kNone;
  }

  const sched::Schedule& schedule_;
  sched::RankId rank_;
  machine::RunGraph graph_;
  std::vector<std::uint32_t> previous_;
  std::vector<std::uint32_t> message_;
  std::vector<bool> clears_flag_;
  std::vector<bool> expects_put_;
  std::vector<ChannelEnd> ends_;
};

}  // namespace slackline::hw
