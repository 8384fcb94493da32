// A barrier that disseminates: after ⌈log2 n⌉ rounds every rank has heard of every other, directly
// or through others.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "sched/ids.h"
#include "sched/program_writer.h"

namespace slackline::sched {

/// Who tells whom: in round t each rank tells the one 2^t places on that it has come, and that all
/// have come of whom it has heard.
struct Dissemination {
  std::uint32_t ranks = 1;

  std::uint32_t rounds() const { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }
  RankId target(RankId rank, std::uint32_t round) const {
    return RankId((rank.value + (1u << round)) % ranks);
  }
  RankId source(RankId rank, std::uint32_t round) const {
    return RankId((rank.value + ranks - (1u << round)) % ranks);
  }
};

/// The barrier as messages without bytes, which needs no memory. Each rank has a channel of its own
/// for each round. It promises no window, and names itself as the channel of its credits, so that
/// no barrier is taken for data.
class MessageBarrier {
 public:
  /// `out` must outlive this.
  MessageBarrier(ProgramWriter& out, std::uint32_t ranks)
      : out_(out), way_{ranks}, channels_(std::size_t{ranks} * way_.rounds()) {}

  std::uint32_t rounds() const { return way_.rounds(); }
  /// What a rank sends on in a round; made when it is first asked for.
  ChannelId channel(RankId src, std::uint32_t round);

  /// Posts what a rank receives in each round. Whoever sends it must not be earlier.
  std::vector<OpId> post(const OpPlace& at);

  /// What a rank comes by, and what it leaves by.
  struct Ends {
    OpId enter;
    OpId exit;
  };
  /// A rank's part, of which it has posted the `receives`.
  Ends pass(const OpPlace& at, std::span<const OpId> receives);

 private:
  ProgramWriter& out_;
  Dissemination way_;
  std::vector<ChannelId> channels_;  // by rank and round
};

}  // namespace slackline::sched
