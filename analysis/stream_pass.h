// The longest path over a multicast's steps, without its schedule: for every rank only what its
// next operations need. The same terms in the same order as longest_path() on the compiled
// schedule, so that results are the same to the last bit. Written once for one run and for several
// side by side.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "analysis/stream_figures.h"
#include "analysis/stream_noise.h"
#include "machine/execution.h"
#include "sched/error.h"
#include "sched/pattern/step_source.h"

namespace slackline::analysis {

/// One run.
struct OneRun {
  using Real = double;
  using Mask = std::int64_t;
  static Mask below(Real a, Real b) { return a < b ? -1 : 0; }
  static Real pick(Mask mask, Real a, Real b) { return mask != 0 ? a : b; }
};

/// No operation is delayed.
struct NoNoise {
  static constexpr bool kNone = true;
};

/// `Runs` says how many runs a Real holds. `Noise` has kNone, or draw() as OneNoise has it.
template <class Runs, class Noise>
class StreamPass {
 public:
  using Real = typename Runs::Real;
  using Mask = typename Runs::Mask;

  StreamPass(sched::StepSource& source, const StreamFigures& figures, const Noise& noise)
      : source_(source),
        f_(figures),
        noise_(noise),
        channels_(source.channels()),
        kept_(std::bit_ceil(source.blocks_kept() + 1)),
        relays_whole_(source.relays_whole_message()),
        ranks_(figures.ranks),
        counts_(figures.ranks),
        notices_(std::size_t{figures.ranks} * channels_),
        held_(relays_whole_ ? 0 : std::size_t{figures.ranks} * kept_),
        held_turn_(held_.size(), 0) {}

  void run() {
    source_.restart();
    for (std::uint32_t r = 0; r < f_.ranks; ++r) {
      counts_[r].receives = source_.receives_of(sched::RankId(r));
      if (counts_[r].receives > 0) post_receive(r, Real{});
    }
    post_first_notices();
    source_.restart();
    while (source_.next(hops_)) {
      for (const sched::Hop& hop : hops_) send(hop);
      for (const sched::Hop& hop : hops_) receive(hop);
    }
  }

  /// Runs in which a lane's operations would have got in each other's way in another order than the
  /// program's: their times mean nothing.
  const Mask& out_of_order() const { return out_of_order_; }
  /// When a rank is done with all it has to do.
  const Real& finish_s(std::uint32_t rank) const { return ranks_[rank].finish; }

  struct Counts {
    std::uint32_t receives = 0;  // left
    std::uint32_t draws = 0;
    std::uint32_t sent = 0;  // blocks
    std::uint32_t received = 0;
    std::uint32_t last_sent = 0;  // of those: the message's last block
    std::uint32_t last_received = 0;
  };
  const Counts& counts(std::uint32_t rank) const { return counts_[rank]; }

 private:
  struct Rank {
    Real busy_since{};  // the lane's last busy period
    Real lane_free{};
    Real before_since{};  // and the one before it
    Real before_free{};
    Real posted{};    // its last send
    Real out_free{};  // the port, for blocks
    Real credits_free{};
    Real sent{};            // its last send is done
    Real receive_issued{};  // of the receive at hand
    Real credit_at{};       // its credit is at the sender
    Real received{};        // the last receive is done
    Real whole{};           // all blocks are there, where only whole messages are relayed
    Real finish{};
  };
  struct Cell {
    Real at{};
  };

  static Real later(const Real& a, const Real& b) { return Runs::pick(Runs::below(a, b), b, a); }

  double hold_s(Hold hold) const {
    return hold == Hold::kPost ? f_.o_post_s : hold == Hold::kCopy ? f_.copy_s : f_.last_copy_s;
  }

  // Takes the lane, in program order but for what fits between others; when it leaves it.
  Real take_lane(std::uint32_t rank, const Real& ready, Hold hold) {
    Rank& r = ranks_[rank];
    Real offered = ready;
    Real held = Real{} + hold_s(hold);
    if constexpr (!Noise::kNone) {
      Real lane{};
      Real post{};
      noise_.draw(rank, counts_[rank].draws++, hold, lane, post, out_of_order_);
      offered = ready + post;
      held = held + lane;
    }
    // Into the time before the lane's last busy period, if it fits there and is not earlier still.
    const Mask before = Runs::below(offered + machine::kInstant_s, r.busy_since);
    const Mask earlier = Runs::below(offered, r.before_since);
    const Real end_before = Runs::pick(earlier, offered, later(offered, r.before_free)) + held;
    out_of_order_ |=
        before & (Runs::below(r.busy_since, end_before + machine::kInstant_s) | earlier);
    const Real end = later(offered, r.lane_free) + held;
    const Mask alone = ~Runs::below(offered, r.lane_free + machine::kInstant_s) & ~before;
    const Mask alone_before = ~Runs::below(offered, r.before_free + machine::kInstant_s) & before;
    r.before_since =
        Runs::pick(alone, r.busy_since, Runs::pick(alone_before, offered, r.before_since));
    r.before_free = Runs::pick(alone, r.lane_free, Runs::pick(before, end_before, r.before_free));
    r.busy_since = Runs::pick(alone, offered, r.busy_since);
    const Real pushed = r.lane_free + later(Real{}, end_before - r.busy_since);
    r.lane_free = Runs::pick(before, pushed, end);
    return Runs::pick(before, end_before, end);
  }
  // When the operation is issued.
  Real post(std::uint32_t rank, const Real& ready) { return take_lane(rank, ready, Hold::kPost); }

  // A receive, and the credit that tells its sender.
  void post_receive(std::uint32_t rank, const Real& ready) {
    Rank& r = ranks_[rank];
    r.receive_issued = post(rank, ready);
    const Real granted = post(rank, r.receive_issued);
    const Real wire = later(granted, r.credits_free);
    r.credits_free = wire + f_.gap_s;
    r.credit_at = wire + f_.latency_s;
  }

  // The receives of credits that a rank posts at the start: one for each of its channels.
  void post_first_notices() {
    std::vector<std::uint8_t> seen(notices_.size(), 0);
    for (std::uint32_t step = source_.first_uses_before(); step > 0; --step) {
      if (!source_.next(hops_)) return;
      for (const sched::Hop& hop : hops_) {
        std::uint8_t& used = seen[channel_of(hop)];
        if (used == 0) notices_[channel_of(hop)].at = post(hop.src.value, Real{});
        used = 1;
      }
    }
  }

  std::size_t channel_of(const sched::Hop& hop) const {
    return std::size_t{hop.src.value} * channels_ + hop.channel;
  }

  void send(const sched::Hop& hop) {
    Rank& s = ranks_[hop.src.value];
    Rank& d = ranks_[hop.dst.value];
    Real& notice = notices_[channel_of(hop)].at;
    const Real credit_landed = later(notice, d.credit_at);
    const Real credit_seen = credit_landed + f_.o_complete_s;
    d.finish = later(d.finish, credit_landed + f_.latency_s + f_.o_complete_s);
    Real ready = credit_seen;
    if (hop.src != f_.root) ready = later(ready, held(hop));
    if (f_.one_in_flight) ready = later(ready, s.sent);
    const Real issued = post(hop.src.value, ready);
    if (!f_.one_in_flight) {  // else each comes after the one before it
      out_of_order_ |= Runs::below(issued, s.posted);
      s.posted = issued;
    }
    const Real wire = later(issued, s.out_free);
    const Real sent = wire + (hop.block == f_.last_block ? f_.last_block_s : f_.block_s);
    s.out_free = f_.serial ? later(wire + f_.gap_s, sent) : wire + f_.gap_s;
    const Real landed = later(sent + f_.latency_s, d.receive_issued);
    s.sent = landed + f_.latency_s + f_.o_complete_s;
    s.finish = later(s.finish, later(credit_seen, s.sent));
    d.received = landed + f_.o_complete_s;
    d.finish = later(d.finish, d.received);
    if (!hop.last) notice = post(hop.src.value, issued);
    ++counts_[hop.src.value].sent;
    counts_[hop.src.value].last_sent += hop.block == f_.last_block ? 1 : 0;
  }

  void receive(const sched::Hop& hop) {
    const std::uint32_t rank = hop.dst.value;
    Rank& r = ranks_[rank];
    const Real received = r.received;
    if (--counts_[rank].receives > 0) post_receive(rank, received);
    Real held = received;
    if (f_.copies_first_block && counts_[rank].received == 0) {
      held = take_lane(rank, received, hop.block == f_.last_block ? Hold::kLastCopy : Hold::kCopy);
      r.finish = later(r.finish, held);
    }
    ++counts_[rank].received;
    counts_[rank].last_received += hop.block == f_.last_block ? 1 : 0;
    if (relays_whole_) {
      r.whole = later(r.whole, held);
      return;
    }
    const std::size_t cell = cell_of(rank, hop.block);
    if (held_turn_[cell] == turn_of(hop.block)) return;  // it came before
    held_turn_[cell] = turn_of(hop.block);
    held_[cell].at = held;
  }

  std::size_t cell_of(std::uint32_t rank, std::uint32_t block) const {
    return std::size_t{rank} * kept_ + (block & (kept_ - 1));
  }
  // Tells blocks in one cell apart; never 0.
  std::uint8_t turn_of(std::uint32_t block) const {
    return static_cast<std::uint8_t>(block / kept_ % 255 + 1);
  }
  const Real& held(const sched::Hop& hop) {
    if (relays_whole_) return ranks_[hop.src.value].whole;
    const std::size_t cell = cell_of(hop.src.value, hop.block);
    if (held_turn_[cell] != turn_of(hop.block)) {
      throw InternalError("a rank sends a block that it does not have, or no longer");
    }
    return held_[cell].at;
  }

  sched::StepSource& source_;
  const StreamFigures f_;
  const Noise& noise_;
  const std::uint32_t channels_;
  const std::uint32_t kept_;  // blocks that are remembered of every rank: a power of two
  const bool relays_whole_;
  Mask out_of_order_{};
  std::vector<sched::Hop> hops_;
  std::vector<Rank> ranks_;
  std::vector<Counts> counts_;
  std::vector<Cell> notices_;  // by channel: when the receive of its next credit was posted
  std::vector<Cell> held_;     // when each rank had its latest blocks
  std::vector<std::uint8_t> held_turn_;
};

}  // namespace slackline::analysis
