#include "sched/pass/lower_transfers.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "base/error.h"
#include "base/grouped.h"
#include "sched/prefetch.h"
#include "sched/program_writer.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kNowhere = 0xffffffffu;

// Transfers by one of their ends, each rank's in plan order.
base::Grouped<std::uint32_t> by_rank(const Plan& plan, RankId Transfer::*end) {
  return {plan.ranks, [&](auto&& take) {
            for (std::uint32_t i = 0; i < plan.transfers.size(); ++i) {
              take((plan.transfers[i].*end).value, i);
            }
          }};
}

class TransferLowering {
 public:
  TransferLowering(const Plan& plan, const TransferOptions& options)
      : plan_(plan),
        options_(options),
        builder_(plan.ranks),
        sends_(by_rank(plan, &Transfer::src)),
        receives_(by_rank(plan, &Transfer::dst)),
        channel_(plan.transfers.size()),
        held_by_(plan.blocks) {}

  ScheduleBuilder& run() {
    const std::size_t transfers = plan_.transfers.size();
    builder_.reserve(2 * transfers + plan_.ranks, 3 * transfers,
                     std::size_t{plan_.ranks} * plan_.blocks + plan_.ranks);
    add_memory();
    add_channels();
    for (std::uint32_t rank = 0; rank < plan_.ranks; ++rank) add_program(RankId(rank));
    builder_.set_message_bytes(plan_.bytes);
    builder_.set_title(plan_.title);
    return builder_;
  }

 private:
  void add_memory() {
    for (std::uint32_t r = 0; r < plan_.ranks; ++r) builder_.add_buffer(RankId(r), plan_.bytes);
    for (std::uint32_t r = 0; r < plan_.ranks; ++r) {
      for (std::uint32_t b = 0; b < plan_.blocks; ++b) {
        builder_.add_slice({BufferId(r), plan_.block_offset(b), plan_.bytes_of(b)});
      }
    }
    for (std::uint32_t r = 0; r < plan_.ranks && options_.copy_first_block; ++r) {
      if (receives_[r].empty()) {
        staging_.push_back(kNowhere);
        continue;
      }
      const std::uint64_t bytes = plan_.bytes_of(plan_.transfers[receives_[r].front()].block);
      const BufferId buffer = builder_.add_buffer(RankId(r), bytes);
      staging_.push_back(builder_.add_slice({buffer, 0, bytes}).first);
    }
    const auto whole = [&](RankId rank) {
      return Fact{{BufferId(rank.value), 0, plan_.bytes}, ValueId(0), 0};
    };
    builder_.add_pre(whole(plan_.root));
    for (std::uint32_t r = 0; r < plan_.ranks; ++r) builder_.add_post(whole(RankId(r)));
  }

  void add_channels() {
    std::vector<std::uint32_t> seen_by(plan_.ranks, kNowhere);
    std::vector<ChannelId> towards(plan_.ranks);
    for (std::uint32_t src = 0; src < plan_.ranks; ++src) {
      for (std::uint32_t t : sends_[src]) {
        const RankId dst = plan_.transfers[t].dst;
        if (seen_by[dst.value] != src) {
          seen_by[dst.value] = src;
          towards[dst.value] = builder_.connect(RankId(src), dst);
        }
        channel_[t] = towards[dst.value];
      }
    }
  }

  SliceRange block_at(RankId rank, std::uint32_t block) const {
    return {rank.value * plan_.blocks + block, 1};
  }
  // Where a transfer's bytes land: its block, or the staging buffer of its destination.
  SliceRange landing(std::uint32_t transfer) const {
    const Transfer& t = plan_.transfers[transfer];
    if (options_.copy_first_block && receives_[t.dst.value].front() == transfer) {
      return {staging_[t.dst.value], 1};
    }
    return block_at(t.dst, t.block);
  }

  void add_program(RankId rank) {
    sent_.clear();
    joined_ = OpId::none();
    std::fill(held_by_.begin(), held_by_.end(), OpId::none());
    const auto sends = sends_[rank.value];
    const auto receives = receives_[rank.value];
    std::size_t s = 0;
    std::size_t r = 0;
    while (s < sends.size() || r < receives.size()) {
      look_ahead(sends, s);
      look_ahead(receives, r);
      const bool receive = r < receives.size() &&
                           (s == sends.size() ||
                            plan_.transfers[receives[r]].step <= plan_.transfers[sends[s]].step);
      if (receive) {
        add_receive(receives[r], r == 0);
        ++r;
        if (plan_.relay_whole_message && r == receives.size() && s < sends.size()) {
          add_join(rank, plan_.transfers[receives[r - 1]].step);
        }
      } else {
        add_send(sends[s++]);
      }
    }
  }

  // A plan goes step by step, so that a rank's transfers stand here and there in it.
  void look_ahead(std::span<const std::uint32_t> transfers, std::size_t at) const {
    if (at + kFetchedAhead >= transfers.size()) return;
    __builtin_prefetch(&plan_.transfers[transfers[at + kFetchedAhead]]);
    __builtin_prefetch(&channel_[transfers[at + kFetchedAhead]]);
  }

  void add_receive(std::uint32_t transfer, bool first) {
    const Transfer& t = plan_.transfers[transfer];
    const OpPlace at{t.dst, t.step};
    const bool put = options_.lowering == Lowering::kPut;
    OpId holder = builder_.receive(at, channel_[transfer], put ? SliceRange{} : landing(transfer));
    if (first && options_.copy_first_block) {
      holder = builder_.copy(at, landing(transfer), block_at(t.dst, t.block), {holder});
    }
    if (!held_by_[t.block].valid()) held_by_[t.block] = holder;
  }

  void add_join(RankId rank, std::uint32_t step) {
    joined_ = builder_.join({rank, step});
    builder_.after(held_by_, joined_);
  }

  void add_send(std::uint32_t transfer) {
    const Transfer& t = plan_.transfers[transfer];
    const OpPlace at{t.src, t.step};
    const ChannelId on = channel_[transfer];
    const SliceRange block = block_at(t.src, t.block);
    const OpId send = options_.lowering == Lowering::kPut
                          ? builder_.put(at, on, block, landing(transfer), Notify::kImm)
                          : builder_.send(at, on, block);
    if (joined_.valid()) {
      builder_.add_edge(joined_, send);
    } else if (t.src != plan_.root) {
      if (!held_by_[t.block].valid()) {
        throw InternalError(fmt::format("rank {} sends block {} at step {} without having it",
                                        t.src.value, t.block, t.step));
      }
      builder_.add_edge(held_by_[t.block], send);
    }
    if (options_.in_flight != 0 && sent_.size() >= options_.in_flight) {
      builder_.add_edge(sent_[sent_.size() - options_.in_flight], send);
    }
    sent_.push_back(send);
  }

  const Plan& plan_;
  const TransferOptions& options_;
  ProgramWriter builder_;
  base::Grouped<std::uint32_t> sends_;
  base::Grouped<std::uint32_t> receives_;
  std::vector<ChannelId> channel_;      // of every transfer
  std::vector<std::uint32_t> staging_;  // of every rank, its staging slice
  // Of the rank whose program is being written:
  std::vector<OpId> held_by_;  // the operation after which it holds a block
  std::vector<OpId> sent_;
  OpId joined_;
};

}  // namespace

Schedule lower_transfers(const Plan& plan, const TransferOptions& options) {
  return TransferLowering(plan, options).run().build();
}

Schedule draft_transfers(const Plan& plan, const TransferOptions& options) {
  return TransferLowering(plan, options).run().build_draft();
}

}  // namespace slackline::sched
