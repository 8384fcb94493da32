#include "sched/pattern/switch_multicast.h"

#include <algorithm>
#include <vector>

#include "base/mix.h"
#include "sched/pass/lower_credits.h"
#include "sched/pattern/shared_options.h"
#include "sched/pattern/switch_ranks.h"
#include "sched/program_writer.h"

namespace slackline::sched {
namespace {

struct LossOptions {
  std::uint32_t lost = 0;  // of a million deliveries to members
  std::uint64_t seed = 0;
  Time timeout{10'000'000};  // after which the last blocks are known to be lost
};

constexpr std::uint32_t kMillion = 1'000'000;
constexpr std::uint32_t kRepair = 1;  // the number of the channels in the ring

// Who gives each rank the blocks, and whom it gives them, with the tree hung up at the root.
struct Hop {
  std::uint32_t depth = 0;  // hops from the root
  RankId from;
  std::vector<RankId> to;
};

std::vector<Hop> hops_from(const SwitchRanks& ranks, RankId root) {
  std::vector<Hop> hops(ranks.ranks());
  if (ranks.levels() == 0) return hops;
  std::vector<RankId> reached{root};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const RankId rank = reached[i];
    std::vector<RankId> next = ranks.below(rank);
    if (const auto above = ranks.above(rank)) next.push_back(*above);
    for (const RankId to : next) {
      if (rank != root && to == hops[rank.value].from) continue;
      hops[rank.value].to.push_back(to);
      hops[to.value].depth = hops[rank.value].depth + 1;
      hops[to.value].from = rank;
      reached.push_back(to);
    }
  }
  return hops;
}

class SwitchMulticast {
 public:
  explicit SwitchMulticast(const Spec& spec)
      : options_(spec.multicast),
        in_flight_(spec.transfers.in_flight),
        loss_(spec.own<LossOptions>()),
        ranks_(options_.ranks, spec.own<SwitchOptions>()),
        hops_(hops_from(ranks_, options_.root)),
        blocks_(options_.blocks()),
        out_(options_.ranks) {}

  ScheduleBuilder& run() {
    out_.set_message_bytes(options_.bytes);
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      const bool passes = ranks_.is_member(RankId(r)) || is_reached(RankId(r));
      out_.add_buffer(RankId(r), passes ? options_.bytes : 0);
    }
    if (options_.bytes != 0) add_contract();
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      add_program(RankId(r));
      if (loss_.lost != 0 && ranks_.is_member(RankId(r)) && ranks_.levels() != 0) {
        add_repair(RankId(r));
      }
    }
    return out_;
  }

 private:
  bool is_reached(RankId rank) const { return hops_[rank.value].depth != 0; }

  void add_contract() {
    const auto whole = [&](RankId rank) {
      return Fact{{BufferId(rank.value), 0, options_.bytes}, ValueId(0), 0};
    };
    out_.add_pre(whole(options_.root));
    for (std::uint32_t r = 0; r < ranks_.members(); ++r) out_.add_post(whole(RankId(r)));
  }

  Slice block_at(RankId rank, std::uint32_t block) const {
    const std::uint64_t begin = std::min(block * options_.block_bytes, options_.bytes);
    return {BufferId(rank.value), begin, std::min(options_.block_bytes, options_.bytes - begin)};
  }

  bool is_lost(RankId rank, std::uint32_t block) const {
    return loss_.lost != 0 && rank != options_.root && ranks_.is_member(rank) &&
           below(draw(loss_.seed, {rank.value, block}), kMillion) < loss_.lost;
  }
  std::vector<std::uint32_t> lost_by(RankId rank) const {
    std::vector<std::uint32_t> blocks;
    for (std::uint32_t b = 0; b < blocks_; ++b) {
      if (is_lost(rank, b)) blocks.push_back(b);
    }
    return blocks;
  }
  // In the ring of members.
  RankId before(RankId rank) const {
    return RankId((rank.value + ranks_.members() - 1) % ranks_.members());
  }
  RankId behind(RankId rank) const { return RankId((rank.value + 1) % ranks_.members()); }

  // A block that is lost takes its way all the same, and ends where nobody looks.
  Slice landing(RankId rank, std::uint32_t block) {
    const Slice place = block_at(rank, block);
    if (!is_lost(rank, block)) return place;
    return {out_.add_buffer(rank, place.bytes), 0, place.bytes};
  }

  void add_program(RankId rank) {
    const Hop& hop = hops_[rank.value];
    sent_.clear();
    came_.assign(blocks_, OpId::none());
    for (std::uint32_t b = 0; b < blocks_; ++b) {
      if (is_reached(rank)) {
        came_[b] =
            out_.receive({rank, hop.depth - 1 + b}, out_.channel(hop.from, rank), landing(rank, b));
      }
      for (const RankId to : hop.to) {
        add_send(
            out_.send({rank, hop.depth + b}, out_.channel(rank, to), block_at(rank, b), {came_[b]}),
            rank);
      }
    }
  }

  // Behind all steps of the multicast: what the rank asks for, what it is asked for, and the
  // blocks.
  void add_repair(RankId rank) {
    const std::uint32_t step = blocks_ + 2 * ranks_.levels();
    const std::vector<std::uint32_t> mine = lost_by(rank);
    const std::vector<std::uint32_t> theirs = lost_by(behind(rank));
    for (const std::uint32_t block : mine) {
      out_.send({rank, step}, out_.channel(rank, before(rank), kRepair), OpSlices(),
                {missing(rank, block, step)});
    }
    std::vector<OpId> asked;
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      asked.push_back(out_.receive({rank, step}, out_.channel(behind(rank), rank, kRepair), {}));
    }
    for (const std::uint32_t block : mine) {
      came_[block] = out_.receive({rank, step + 1}, out_.channel(before(rank), rank, kRepair),
                                  block_at(rank, block));
    }
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      add_send(out_.send({rank, step + 1}, out_.channel(rank, behind(rank), kRepair),
                         block_at(rank, theirs[i]), {came_[theirs[i]], asked[i]}),
               rank);
    }
  }

  // When the rank knows that the block is missing: the next block has come, or none for so long.
  OpId missing(RankId rank, std::uint32_t block, std::uint32_t step) {
    for (std::uint32_t b = block + 1; b < blocks_; ++b) {
      if (!is_lost(rank, b)) return came_[b];
    }
    for (std::uint32_t b = block; b-- > 0;) {
      if (!is_lost(rank, b)) return out_.delay({rank, step}, loss_.timeout, {came_[b]});
    }
    return out_.delay({rank, step}, loss_.timeout);
  }

  void add_send(OpId send, RankId rank) {
    if (ranks_.is_member(rank) && in_flight_ != 0 && sent_.size() >= in_flight_) {
      out_.add_edge(sent_[sent_.size() - in_flight_], send);
    }
    sent_.push_back(send);
  }

  const MulticastOptions& options_;
  const std::uint32_t in_flight_;
  const LossOptions loss_;
  const SwitchRanks ranks_;
  const std::vector<Hop> hops_;
  const std::uint32_t blocks_;
  ProgramWriter out_;
  // Of the rank whose program is being written:
  std::vector<OpId> sent_;
  std::vector<OpId> came_;  // by block: after which it is there; none() at the root
};

constexpr auto kSwitchMulticastOptions = option_list(
    kPlanOptions, kInFlightOption, kReadyOption, kWindowOption, kMessagesOption, kFanOutOption,
    count_option<&LossOptions::lost>("loss", "0 to 1000000",
                                     "switch-multicast: lost of a million deliveries", 0, kMillion),
    count_option<&LossOptions::seed>("seed", "0 or more", "switch-multicast: of what is lost", 0,
                                     kAnyNumber),
    time_option<&LossOptions::timeout>("timeout",
                                       "switch-multicast: until the last blocks count as lost"));

}  // namespace

Schedule switch_multicast(const Spec& spec) {
  check(spec.multicast);
  SwitchRanks(spec.multicast.ranks, spec.own<SwitchOptions>()).require_member(spec.multicast.root);
  SwitchMulticast multicast(spec);
  ScheduleBuilder& builder = multicast.run();
  builder.set_title(format_spec(spec));
  if (spec.credits.ready == Ready::kNone) return builder.build();
  CreditOptions credits = spec.credits;
  // Repairs come beside the multicast, and members are asked while they ask.
  const bool loses = spec.own<LossOptions>().lost != 0;
  credits.own_windows_from =
      loses ? 0 : SwitchRanks(spec.multicast.ranks, spec.own<SwitchOptions>()).members();
  return lower_credits(builder.build_draft(), credits);
}

std::uint64_t switch_multicast_ops(const Spec& spec) {
  check(spec.multicast);
  const std::uint64_t per_message = spec.credits.ready == Ready::kNone ? 2 : 4;
  // Of what is lost also a question, its answer and a timer.
  const std::uint64_t per_block = per_message * (spec.own<LossOptions>().lost != 0 ? 3 : 1) +
                                  (spec.own<LossOptions>().lost != 0 ? 1 : 0);
  const std::uint64_t of_one =
      std::uint64_t{spec.multicast.ranks - 1} * spec.multicast.blocks() * per_block +
      spec.multicast.ranks;
  return of_one > kMaxOps ? of_one : of_one * spec.messages;
}

constinit const PatternEntry kSwitchMulticastPattern = {
    .name = "switch-multicast",
    .summary = "the network's switches, which are ranks, copy each block to the members",
    .options = kSwitchMulticastOptions,
    .schedule = switch_multicast,
    .op_count = switch_multicast_ops,
    .one_message = true,
    .bus = BusUse::kOnce};

}  // namespace slackline::sched
