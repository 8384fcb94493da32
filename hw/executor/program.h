// One rank's part of a schedule, as the executor counts it off: who waits for how many events, and
// whom an event releases. Made from the rank's own operations, edges and regions alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/executor/rank_regions.h"
#include "hw/transport.h"
#include "sched/schedule.h"

namespace slackline::hw {

inline constexpr std::uint32_t kNoOp = 0xffffffffu;

/// Operations are numbered within the rank, from 0; nodes are those of RankRegions. Arcs into and
/// out of regions are the regions': a region begins when all that its operations wait for outside
/// is there, and what waits for one of them waits for the region's end (docs/dynamic.md, "What it
/// means").
class RankProgram {
 public:
  /// Throws Unsupported, naming the operation, for what transports have no request for, and for
  /// channels that gather messages; InputError for a message without its other half, for polls that
  /// look at other bytes than their put's last, and for regions that overlap or that nothing
  /// decides. The schedule must outlive this.
  RankProgram(const sched::Schedule& schedule, sched::RankId rank);

  const sched::Schedule& schedule() const { return schedule_; }
  sched::RankId rank() const { return rank_; }
  std::uint32_t size() const { return size_; }
  sched::OpId id(std::uint32_t op) const { return sched::OpId(first_ + op); }
  const sched::Op& op(std::uint32_t op) const { return schedule_.op(id(op)); }

  const RankRegions& regions() const { return regions_; }
  bool is_region(std::uint32_t node) const { return node >= size_; }

  /// How many events must come before the operation may be issued, or the region begin: each time
  /// that what stands around it begins.
  std::uint32_t waits(std::uint32_t node) const { return waits_[node]; }
  /// The nodes that wait for issued(op), and for done(op) or a region's end.
  std::span<const std::uint32_t> after_issued(std::uint32_t op) const {
    return after_issued_.of(op);
  }
  std::span<const std::uint32_t> after_done(std::uint32_t node) const {
    return after_done_.of(node);
  }

  /// The operation before it on its side of its channel; kNoOp for the first, and where there is
  /// none.
  std::uint32_t previous(std::uint32_t op) const { return previous_[op]; }

  /// Whether somebody here needs to know when it is done, or nothing that completes later on its
  /// side of its channel would tell. If not, it may complete in silence.
  bool is_waited_for(std::uint32_t op) const { return waited_for_[op]; }

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
  // For each operation a list of others.
  struct Lists {
    std::vector<std::uint32_t> begin;
    std::vector<std::uint32_t> items;
    std::span<const std::uint32_t> of(std::uint32_t op) const {
      return std::span(items).subspan(begin[op], begin[op + 1] - begin[op]);
    }
  };
  struct Release {
    std::uint32_t from;
    std::uint32_t to;
  };
  static Lists lists_of(std::uint32_t size, std::span<const Release> releases);

  void require_supported() const;
  void count_events();
  void mark_waited_for(std::span<const Release> on_done);
  void mark_flags();
  void mark_puts();

  const sched::Schedule& schedule_;
  sched::RankId rank_;
  std::uint32_t first_ = 0;
  std::uint32_t size_ = 0;
  RankRegions regions_;
  std::vector<std::uint32_t> waits_;
  Lists after_issued_;
  Lists after_done_;
  std::vector<std::uint32_t> previous_;
  std::vector<bool> waited_for_;
  std::vector<std::uint32_t> message_;
  std::vector<bool> clears_flag_;
  std::vector<bool> expects_put_;
  std::vector<ChannelEnd> ends_;
};

}  // namespace slackline::hw
