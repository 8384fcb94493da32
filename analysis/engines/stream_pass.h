// The longest path over a multicast's steps, without its schedule: for every rank only what its
// next operations need. The same terms in the same order as longest_path() on the compiled
// schedule, so that results are the same to the last bit. Written once for one run and for several
// side by side.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/engines/stream_figures.h"
#include "analysis/engines/stream_noise.h"
#include "base/error.h"
#include "machine/event_queue.h"
#include "sched/pattern/step_source.h"

// Before a loop over runs: none depends on another.
#if defined(__GNUC__) && !defined(__clang__)
#define SLACKLINE_SIDE_BY_SIDE _Pragma("GCC ivdep")
#else
#define SLACKLINE_SIDE_BY_SIDE
#endif

namespace slackline::analysis {

/// No operation is delayed.
struct NoNoise {
  static constexpr bool kNone = true;
};

/// `kRuns` runs side by side, each an element of the arrays below: loops over them have no
/// branches, so that compilers vectorise them. `Noise` has kNone, or draw() as OneNoise has it.
template <std::size_t kRuns, class Noise>
class StreamPass {
 public:
  StreamPass(sched::StepSource& source, const StreamFigures& figures, const Noise& noise)
      : source_(source),
        f_(figures),
        noise_(noise),
        channels_(source.channels()),
        relays_whole_(source.relays_whole_message()),
        kept_shift_(std::countr_zero(cells_of(source))),
        kept_mask_(cells_of(source) - 1),
        ranks_(figures.ranks),
        notices_(std::size_t{figures.ranks} * channels_),
        held_(std::size_t{figures.ranks} << kept_shift_),
        held_turn_(held_.size(), kNoTurn) {}

  /// `progress` may be empty; it is told now and then how many steps are done.
  void run(const std::function<void(std::uint32_t done)>& progress = {}) {
    source_.restart();
    const Times start{};
    for (std::uint32_t r = 0; r < f_.ranks; ++r) {
      ranks_[r].counts.receives = source_.receives_of(sched::RankId(r));
      if (ranks_[r].counts.receives > 0) post_receive(r, start);
    }
    post_first_notices();
    source_.restart();
    std::size_t untold = 0;
    for (std::uint32_t step = 0; source_.next(hops_); ++step) {
      for (const sched::Hop& hop : hops_) send(hop);
      for (const sched::Hop& hop : hops_) receive(hop);
      untold += hops_.size();
      if (!progress || untold < kToldAfter) continue;
      progress(step + 1);
      untold = 0;
    }
  }

  /// What a pass over the source takes, in bytes, beside the source itself.
  static std::uint64_t bytes_for(const sched::StepSource& source, std::uint32_t ranks) {
    return ranks * (sizeof(Rank) + sizeof(sched::Hop) + source.channels() * (sizeof(Notices) + 1) +
                    std::uint64_t{cells_of(source)} * (sizeof(Times) + sizeof(Turn)));
  }

  /// A run in which a lane's operations would have got in each other's way in another order than
  /// the program's: see Stream::exact.
  bool out_of_order(std::size_t run) const { return out_of_order_.at[run] != 0; }
  /// When a rank is done with all it has to do.
  double finish_s(std::uint32_t rank, std::size_t run) const { return ranks_[rank].finish.at[run]; }

  struct Counts {
    std::uint64_t draws = 0;     // a rank has several for each block
    std::uint32_t receives = 0;  // left
    std::uint32_t sent = 0;      // blocks
    std::uint32_t received = 0;
    std::uint32_t last_sent = 0;  // of those: the message's last block
    std::uint32_t last_received = 0;
  };
  const Counts& counts(std::uint32_t rank) const { return ranks_[rank].counts; }

 private:
  static constexpr std::size_t kToldAfter = 1u << 22;  // transfers: some tenths of a second
  static constexpr std::size_t kAlignment = std::min<std::size_t>(64, sizeof(double) * kRuns);
  template <class Value>
  struct alignas(kAlignment) Array {
    Value at[kRuns] = {};
  };
  using Times = Array<double>;
  using Marks = Array<std::int64_t>;  // −1 where it is so

  // Of one run: two lines of a cache.
  struct alignas(std::max<std::size_t>(64, kAlignment)) Rank {
    Times busy_since;  // the lane's last busy period
    Times lane_free;
    Times before_since;  // and the one before it
    Times before_free;
    Times posted;    // its last send
    Times out_free;  // the port, for blocks
    Times credits_free;
    Times sent;            // its last send is done
    Times receive_issued;  // of the receive at hand
    Times credit_at;       // its credit is at the sender
    Times received;        // the last receive is done
    Times finish;
    Counts counts;
  };
  // Tells the blocks of one cell apart, as each comes after the one before it: 256 turns of the
  // cells are more than enough. (No character type, whose stores might change anything.)
  enum class Turn : std::uint8_t {};
  static constexpr Turn kNoTurn{0xff};  // before the first

  // A channel's receives of credits: when those of its next message and of the one after were
  // posted.
  struct Notices {
    Times next;
    Times after;
  };
  // What delays one operation.
  struct Delay {
    Times lane;
    Times post;
  };

  static double later(double a, double b) { return a < b ? b : a; }

  // A run in which that is so is out of order.
  void mark(bool so, std::size_t i) {
    if constexpr (kRuns == 1) {
      if (so) out_of_order_.at[i] = -1;
    } else {
      out_of_order_.at[i] |= so ? -1 : 0;
    }
  }

  double hold_s(Hold hold) const {
    return hold == Hold::kPost ? f_.o_post_s : hold == Hold::kCopy ? f_.copy_s : f_.last_copy_s;
  }

  void draw(std::uint32_t rank, Hold hold, Delay& delay) {
    if constexpr (!Noise::kNone) {
      noise_.draw(rank, ranks_[rank].counts.draws++, hold, delay.lane.at, delay.post.at,
                  out_of_order_.at);
    }
  }

  // One run's operation takes the lane, in program order but for what fits between others; when it
  // leaves it.
  double take_lane(Rank& r, std::size_t i, double ready, double hold, const Delay& delay) {
    if constexpr (kRuns == 1 && Noise::kNone) {
      // Most are offered behind all that the lane has had: the same as below, without the rest.
      const double free = r.lane_free.at[0];
      if (!(ready < free + machine::kInstant_s)) {
        r.before_since = r.busy_since;
        r.before_free = r.lane_free;
        r.busy_since.at[0] = ready;
        return r.lane_free.at[0] = ready + hold;
      }
      if (!(ready + machine::kInstant_s < r.busy_since.at[0])) {
        return r.lane_free.at[0] = later(ready, free) + hold;
      }
    }
    double offered = ready;
    if constexpr (!Noise::kNone) {
      offered = ready + delay.post.at[i];
      hold = hold + delay.lane.at[i];
    }
    const double busy_since = r.busy_since.at[i];
    const double free = r.lane_free.at[i];
    const double before_since = r.before_since.at[i];
    const double before_free = r.before_free.at[i];
    const double end = later(offered, free) + hold;
    // Into the time before the lane's last busy period, or, if it does not fit there or is earlier
    // still, as if it did.
    const bool before = offered + machine::kInstant_s < busy_since;
    const bool earlier = offered < before_since;
    const double end_before = (earlier ? offered : later(offered, before_free)) + hold;
    const bool met = busy_since < end_before + machine::kInstant_s;
    mark(before & (met | earlier), i);
    const double pushed = free + later(0, end_before - busy_since);
    const bool alone = !before & !(offered < free + machine::kInstant_s);
    const bool alone_before = before & !(offered < before_free + machine::kInstant_s);
    r.before_since.at[i] = alone ? busy_since : alone_before ? offered : before_since;
    r.before_free.at[i] = alone ? free : before ? end_before : before_free;
    r.busy_since.at[i] = alone ? offered : busy_since;
    r.lane_free.at[i] = before ? pushed : end;
    return before ? end_before : end;
  }

  // A receive, and the credit that tells its sender.
  void post_receive(std::uint32_t rank, const Times& ready) {
    Rank& r = ranks_[rank];
    Delay receive;
    Delay credit;
    draw(rank, Hold::kPost, receive);
    draw(rank, Hold::kPost, credit);
    SLACKLINE_SIDE_BY_SIDE
    for (std::size_t i = 0; i < kRuns; ++i) {
      const double issued = take_lane(r, i, ready.at[i], f_.o_post_s, receive);
      const double granted = take_lane(r, i, issued, f_.o_post_s, credit);
      const double wire = later(granted, r.credits_free.at[i]);
      r.receive_issued.at[i] = issued;
      r.credits_free.at[i] = wire + f_.gap_s;
      r.credit_at.at[i] = wire + f_.latency_s;
    }
  }

  // The receives of credits that a rank posts at the start: for the first two messages of each of
  // its channels.
  void post_first_notices() {
    std::vector<std::uint8_t> seen(notices_.size(), 0);
    for (std::uint32_t step = source_.first_uses_before(); step > 0; --step) {
      if (!source_.next(hops_)) return;
      for (const sched::Hop& hop : hops_) {
        std::uint8_t& used = seen[channel_of(hop)];
        if (used != 0) continue;
        used = 1;
        Notices& notices = notices_[channel_of(hop)];
        post_notice(hop.src.value, Times{}, notices.next);
        if (hop.later > 0) post_notice(hop.src.value, notices.next, notices.after);
      }
    }
  }

  void post_notice(std::uint32_t rank, const Times& ready, Times& notice) {
    Rank& r = ranks_[rank];
    Delay delay;
    draw(rank, Hold::kPost, delay);
    SLACKLINE_SIDE_BY_SIDE
    for (std::size_t i = 0; i < kRuns; ++i) {
      notice.at[i] = take_lane(r, i, ready.at[i], f_.o_post_s, delay);
    }
  }

  std::size_t channel_of(const sched::Hop& hop) const {
    return std::size_t{hop.src.value} * channels_ + hop.channel;
  }

  // A block, and a receive of a credit: of the message after the next of its channel.
  void send(const sched::Hop& hop) {
    const std::uint32_t src = hop.src.value;
    Rank& s = ranks_[src];
    Rank& d = ranks_[hop.dst.value];
    Notices& notices = notices_[channel_of(hop)];
    const Times& held = held_by(hop);
    const double wire_s = hop.block == f_.last_block ? f_.last_block_s : f_.block_s;
    Delay block;
    draw(src, Hold::kPost, block);
    const bool one_in_flight = f_.one_in_flight;
    const bool serial = f_.serial;
    SLACKLINE_SIDE_BY_SIDE
    for (std::size_t i = 0; i < kRuns; ++i) {
      // The credit is seen here before its send is done there, and both before the block has come.
      const double credit_seen = later(notices.next.at[i], d.credit_at.at[i]) + f_.o_complete_s;
      double ready = later(credit_seen, held.at[i]);
      ready = one_in_flight ? later(ready, s.sent.at[i]) : ready;
      ready = later(ready, notices.after.at[i]);
      const double issued = take_lane(s, i, ready, f_.o_post_s, block);
      // With one in flight each comes after the one before it.
      mark(issued < s.posted.at[i], i);
      s.posted.at[i] = issued;
      const double wire = later(issued, s.out_free.at[i]);
      const double end = wire + wire_s;
      s.out_free.at[i] = serial ? later(wire + f_.gap_s, end) : wire + f_.gap_s;
      const double landed = later(end + f_.latency_s, d.receive_issued.at[i]);
      const double sent = landed + f_.latency_s + f_.o_complete_s;
      const double received = landed + f_.o_complete_s;
      s.sent.at[i] = sent;
      s.finish.at[i] = later(s.finish.at[i], sent);
      d.received.at[i] = received;
      d.finish.at[i] = later(d.finish.at[i], received);
    }
    notices.next = notices.after;
    if (hop.later > 1) post_notice(src, s.posted, notices.after);
    ++s.counts.sent;
    if (hop.block == f_.last_block) ++s.counts.last_sent;
  }

  void receive(const sched::Hop& hop) {
    const std::uint32_t rank = hop.dst.value;
    Rank& r = ranks_[rank];
    Counts& counts = r.counts;
    if (--counts.receives > 0) post_receive(rank, r.received);
    if (f_.copies_first_block && counts.received == 0) {
      const Hold hold = hop.block == f_.last_block ? Hold::kLastCopy : Hold::kCopy;
      Delay delay;
      draw(rank, hold, delay);
      SLACKLINE_SIDE_BY_SIDE
      for (std::size_t i = 0; i < kRuns; ++i) {
        r.received.at[i] = take_lane(r, i, r.received.at[i], hold_s(hold), delay);
        r.finish.at[i] = later(r.finish.at[i], r.received.at[i]);
      }
    }
    ++counts.received;
    if (hop.block == f_.last_block) ++counts.last_received;
    if (relays_whole_) {
      Times& whole = held_[rank];
      SLACKLINE_SIDE_BY_SIDE
      for (std::size_t i = 0; i < kRuns; ++i) {
        whole.at[i] = later(whole.at[i], r.received.at[i]);
      }
      return;
    }
    const std::size_t cell = cell_of(rank, hop.block);
    if (held_turn_[cell] == turn_of(hop.block)) return;  // it came before
    held_turn_[cell] = turn_of(hop.block);
    held_[cell] = r.received;
  }

  // Of each rank, in held_: a power of two.
  static std::uint32_t cells_of(const sched::StepSource& source) {
    return source.relays_whole_message() ? 1 : std::bit_ceil(source.blocks_kept() + 1);
  }
  std::size_t cell_of(std::uint32_t rank, std::uint32_t block) const {
    return (std::size_t{rank} << kept_shift_) + (block & kept_mask_);
  }
  Turn turn_of(std::uint32_t block) const { return static_cast<Turn>(block >> kept_shift_ & 0xff); }

  // When the source of a hop had its block.
  const Times& held_by(const sched::Hop& hop) const {
    if (hop.src == f_.root) return from_the_start_;
    if (relays_whole_) return held_[hop.src.value];
    const std::size_t cell = cell_of(hop.src.value, hop.block);
    if (held_turn_[cell] != turn_of(hop.block)) {
      throw InternalError("a rank sends a block that it does not have, or no longer");
    }
    return held_[cell];
  }

  sched::StepSource& source_;
  const StreamFigures f_;
  const Noise& noise_;
  const std::uint32_t channels_;
  const bool relays_whole_;
  const int kept_shift_;           // for the blocks that are remembered of every rank
  const std::uint32_t kept_mask_;  // likewise
  const Times from_the_start_;
  Marks out_of_order_;
  std::vector<sched::Hop> hops_;
  std::vector<Rank> ranks_;
  std::vector<Notices> notices_;  // by channel
  std::vector<Times> held_;       // when each rank had its latest blocks, or all of them
  std::vector<Turn> held_turn_;
};

}  // namespace slackline::analysis
