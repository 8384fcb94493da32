// Messages that a channel gathers and sends as one, in a simulation: which operations a bundle has,
// and who stands for it. machine/run/bundle_line.h says when messages gather,
// machine/run/execution_bundles.cc what that takes of lanes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/run/bundle_line.h"
#include "sched/schedule.h"

namespace slackline::machine {

class GatheredMessages {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  explicit GatheredMessages(const sched::Schedule& schedule);

  /// Whether some channel gathers. If not, nothing else here may be called.
  bool any() const { return !channels_.empty(); }

  /// An initiator or a flush of a channel that gathers.
  bool concern(const sched::Op& op) const {
    return op.kind != sched::OpKind::kRecv && op.channel.valid() &&
           schedule_.channel(op.channel).bundle != sched::Bundle::kNone;
  }

  /// Of an operation that concerns them: whether it goes into the bundle if it has its turn now.
  /// The answer holds until it is issued.
  bool decide(sched::OpId op);
  bool is_gathered(sched::OpId op) const { return gathered_[op.value] != 0; }

  /// The operation, which is_gathered(), is issued.
  void add(sched::OpId op, double now_s);

  /// Of the bundle that a channel gathers now.
  struct Open {
    sched::OpId oldest;  // none(): it is empty
    sched::OpId newest;
    std::uint32_t serial = 0;  // of all bundles, from 1
    bool awaits_lane = false;  // to be posted
  };
  Open& open(sched::ChannelId channel) { return channels_[channel.value].open; }
  /// Its rule; of a channel that gathers.
  const BundleLine& rule(sched::ChannelId channel) const { return *channels_[channel.value].rule; }

  /// Closes the channel's bundle and answers its oldest message, which stands for it from now on;
  /// none() if it is empty. `lane` is held until the bundle is posted; kNone: none is.
  sched::OpId take(sched::ChannelId channel, std::uint32_t lane);
  std::uint32_t held_lane(sched::OpId oldest) const { return held_lane_[oldest.value]; }
  /// A flush keeps what it took.
  void keep(sched::OpId flush, sched::OpId oldest) { next_[flush.value] = oldest; }
  sched::OpId kept(sched::OpId flush) const { return next_[flush.value]; }

  /// A message without others, or a bundle, is under way.
  void under_way(sched::OpId oldest);
  void alone(sched::OpId op);

  /// Of a message under way, which the oldest of its bundle stands for: its bytes; who comes
  /// behind, if anybody.
  std::uint64_t bytes(sched::OpId oldest) const { return bytes_[oldest.value]; }
  sched::OpId next(sched::OpId op) const { return next_[op.value]; }
  bool stands_for_all(sched::OpId op) const { return head_[op.value] == op; }
  sched::OpId oldest_with(sched::OpId op) const { return head_[op.value]; }

  /// Whether done() must be told at the time.
  bool counts(const sched::Op& op) const {
    return concern(op) && op.kind != sched::OpKind::kFlush &&
           schedule_.channel(op.channel).bundle == sched::Bundle::kOverflow;
  }
  /// An operation that counts() is done: with the last of its message, that is.
  void done(sched::OpId op);

 private:
  struct Line {
    std::optional<BundleLine> rule;
    Open open;
  };
  Line& line_of(sched::OpId op) { return channels_[schedule_.op(op).channel.value]; }

  const sched::Schedule& schedule_;
  std::vector<Line> channels_;  // all of them; empty if none gathers
  std::vector<char> gathered_;
  std::vector<sched::OpId> next_;  // in its bundle
  std::vector<sched::OpId> head_;  // the oldest of its bundle
  std::vector<std::uint64_t> bytes_;
  std::vector<std::uint32_t> not_done_;   // of the oldest: operations of its bundle
  std::vector<std::uint32_t> held_lane_;  // of the oldest
  std::uint32_t serial_ = 0;
};

}  // namespace slackline::machine
