#include "sched/pass/lower_collective.h"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sched/program_writer.h"

namespace slackline::sched {
namespace {

using Message = CollectivePlan::Message;
using Piece = CollectivePlan::Piece;

class LoweredCollective {
 public:
  LoweredCollective(const CollectivePlan& plan, const CollectiveLowering& options)
      : plan_(plan),
        options_(options),
        ranks_(plan.first_alone ? 1 : plan.ranks),
        builder_(ranks_),
        of_rank_(ranks_),
        channel_(plan.messages.size()),
        held_by_(plan.units()),
        read_by_(plan.units()) {
    if (options.slots == 0) throw InputError("slots: 0; expected at least 1");
  }

  ScheduleBuilder& run() {
    builder_.set_title(plan_.title);
    builder_.set_message_bytes(plan_.message_bytes);
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      builder_.add_buffer(RankId(r), plan_.bytes());
    }
    for (const Fact& fact : plan_.pre) builder_.add_pre(fact);
    for (const Fact& fact : plan_.post) builder_.add_post(fact);
    plan_.first_alone ? add_own_channels() : add_channels();
    for (std::uint32_t r = 0; r < ranks_; ++r) add_program(RankId(r));
    return builder_;
  }

 private:
  void add_channels() {
    for (std::uint32_t m = 0; m < plan_.messages.size(); ++m) {
      const Message& message = plan_.messages[m];
      of_rank_[message.src.value].push_back(m);
      if (message.src == message.dst) continue;
      channel_[m] = builder_.channel(message.src, message.dst);
      of_rank_[message.dst.value].push_back(m);
    }
  }

  // Of rank 0 alone, numbered by whom it sends to in the step: what comes in it is from the rank to
  // which it is the same.
  void add_own_channels() {
    std::vector<std::uint32_t> target(plan_.steps, 0);
    for (const Message& message : plan_.messages) {
      if (message.src == RankId(0) && message.dst != RankId(0)) {
        target[message.step] = message.dst.value;
      }
    }
    for (std::uint32_t m = 0; m < plan_.messages.size(); ++m) {
      const Message& message = plan_.messages[m];
      of_rank_[0].push_back(m);
      if (message.src == message.dst) continue;
      channel_[m] = builder_.channel(RankId(0), RankId(0), target[message.step]);
    }
  }

  std::uint64_t bytes_of(const Piece& piece) const {
    return plan_.begin[piece.first + piece.count] - plan_.begin[piece.first];
  }
  std::span<const Piece> pieces_of(const Message& message) const {
    return std::span(plan_.pieces).subspan(message.first_piece, message.pieces);
  }
  std::uint64_t bytes_of(const Message& message) const {
    std::uint64_t bytes = 0;
    for (const Piece& piece : pieces_of(message)) bytes += bytes_of(piece);
    return bytes;
  }
  // The places that a message leaves from, or those that it goes to.
  enum class End { kFrom, kTo };
  static std::uint32_t first_of(const Piece& piece, End end) {
    return end == End::kFrom ? piece.first : piece.to;
  }
  SliceRange memory_of(RankId rank, const Message& message, End end) {
    std::vector<Slice> slices;
    for (const Piece& piece : pieces_of(message)) {
      const Slice slice{BufferId(rank.value), plan_.begin[first_of(piece, end)], bytes_of(piece)};
      if (slice.bytes != 0 || slices.empty()) slices.push_back(slice);
    }
    if (slices.size() > 1 && slices.front().bytes == 0) slices.erase(slices.begin());
    return builder_.add_slices(slices);
  }
  template <class Visit>
  void for_each_unit(const Message& message, End end, Visit&& visit) const {
    for (const Piece& piece : pieces_of(message)) {
      const std::uint32_t first = first_of(piece, end);
      for (std::uint32_t u = first; u < first + piece.count; ++u) visit(u);
    }
  }
  // `op` waits for what was last done with each unit at that end of the message. Neighbours mostly
  // came together, and are waited for once: an edge for each unit would be n² of a barrier of n.
  void wait(OpId op, const Message& message, End end, const std::vector<OpId>& last_of) {
    OpId waits_for = OpId::none();
    for_each_unit(message, end, [&](std::uint32_t unit) {
      if (last_of[unit] == waits_for) return;
      waits_for = last_of[unit];
      builder_.after(waits_for, op);
    });
  }
  // `op` writes where the message goes to, and so waits until partial sums have left.
  void holds(const Message& message, OpId op) {
    if (plan_.bytes() != 0) wait(op, message, End::kTo, read_by_);
    for_each_unit(message, End::kTo, [&](std::uint32_t unit) {
      held_by_[unit] = op;
      if (summed_from_.empty()) return;
      const auto summed = summed_from_.find(unit);
      if (summed == summed_from_.end()) return;
      for (const OpId sum : summed->second) {
        builder_.after(sum, op);
      }
      summed_from_.erase(summed);
    });
  }
  // `op` reads what the message carries, and so waits until it is there.
  void reads(const Message& message, OpId op) {
    wait(op, message, End::kFrom, held_by_);
    for_each_unit(message, End::kFrom, [&](std::uint32_t unit) { read_by_[unit] = op; });
  }

  // What a rank does for a message. Of one that is added in a later step it is two things.
  struct Turn {
    std::uint32_t message;
    bool adds_later = false;
  };
  static bool is_two_turns(const Message& message, RankId rank) {
    return message.dst == rank && message.src != rank && message.late_steps != 0;
  }
  // In a step: copies, receives, sends, then what comes late.
  std::pair<std::uint32_t, int> place_of(const Turn& turn, RankId rank) const {
    const Message& message = plan_.messages[turn.message];
    if (turn.adds_later) return {message.step + message.late_steps, 3};
    if (is_two_turns(message, rank)) return {message.step, 1};
    if (message.dst == rank && message.late) return {message.step, 3};
    if (message.src == message.dst) return {message.step, 0};
    return {message.step, message.src == rank ? 2 : 1};
  }

  void add_program(RankId rank) {
    std::fill(held_by_.begin(), held_by_.end(), OpId::none());
    std::fill(read_by_.begin(), read_by_.end(), OpId::none());
    sent_.clear();
    added_.clear();
    arrived_.clear();
    summed_from_.clear();
    sums_ = 0;
    landings_ = 0;
    landing_ = BufferId::none();
    landed_.clear();
    const std::vector<std::uint32_t>& mine = of_rank_[rank.value];
    std::vector<Turn> turns;
    turns.reserve(mine.size());
    for (const std::uint32_t m : mine) {
      turns.push_back({m});
      if (is_two_turns(plan_.messages[m], rank)) turns.push_back({m, true});
    }
    std::stable_sort(turns.begin(), turns.end(), [&](const Turn& a, const Turn& b) {
      return place_of(a, rank) < place_of(b, rank);
    });
    add_landing(rank, mine);
    came_ = plan_.marks_ends ? builder_.join({rank}) : OpId::none();
    for (const Turn& turn : turns) {
      const Message& message = plan_.messages[turn.message];
      if (message.src == message.dst) {
        message.combines ? add_within(message) : add_copy(message);
      } else if (message.src == rank) {
        add_send(turn.message);
      } else if (!message.combines) {
        add_receive(turn.message);
      } else {
        if (!turn.adds_later) land_operand(turn.message);
        if (turn.adds_later || message.late_steps == 0) add_operand(turn.message);
      }
    }
    if (!plan_.marks_ends) return;
    const OpId leaves = builder_.join({rank, plan_.steps == 0 ? 0 : plan_.steps - 1}, {came_});
    builder_.after(arrived_, leaves);
  }

  void add_landing(RankId rank, const std::vector<std::uint32_t>& mine) {
    stride_ = 0;
    std::uint64_t operands = 0;
    for (const std::uint32_t m : mine) {
      const Message& message = plan_.messages[m];
      if (message.src == rank || !message.combines || bytes_of(message) == 0) continue;
      stride_ = std::max(stride_, bytes_of(message));
      ++operands;
    }
    if (stride_ == 0) return;
    landing_ =
        builder_.add_buffer(rank, stride_ * std::min<std::uint64_t>(operands, options_.slots));
  }

  void add_copy(const Message& message) {
    if (bytes_of(message) == 0) return;
    const OpId copy =
        builder_.copy({message.src, message.step}, memory_of(message.src, message, End::kFrom),
                      memory_of(message.src, message, End::kTo));
    reads(message, copy);
    holds(message, copy);
  }

  void add_within(const Message& message) {
    const OpPlace at{message.src, message.step};
    const Piece& piece = pieces_of(message).front();
    const Slice operand{BufferId(message.src.value), plan_.begin[piece.first], bytes_of(message)};
    const OpId added = sum(at, plan_.begin[piece.to], operand, {});
    wait(added, message, End::kFrom, held_by_);
    wait(added, message, End::kTo, held_by_);
    holds(message, added);
    if (plan_.bytes() == 0) return;
    for_each_unit(message, End::kFrom, [&](auto unit) { summed_from_[unit].push_back(added); });
  }

  void add_receive(std::uint32_t m) {
    const Message& message = plan_.messages[m];
    const OpId receive = builder_.receive({message.dst, message.step}, channel_[m],
                                          memory_of(message.dst, message, End::kTo));
    arrived_.push_back(receive);
    holds(message, receive);
  }

  // Operands are added in the order in which they land.
  void land_operand(std::uint32_t m) {
    const Message& message = plan_.messages[m];
    const std::uint64_t bytes = bytes_of(message);
    const Slice landed{landing_, landings_ % options_.slots * stride_, bytes};
    const OpId receive = builder_.receive({message.dst, message.step}, channel_[m],
                                          bytes != 0 ? OpSlices(landed) : OpSlices());
    arrived_.push_back(receive);
    landed_.push_back({receive, landed});
    if (bytes == 0) return;
    if (landings_ >= options_.slots) {
      if (added_.size() <= landings_ - options_.slots) {
        throw InternalError("lower collective: operands wait for more slots than there are");
      }
      builder_.add_edge(added_[landings_ - options_.slots], receive);
    }
    ++landings_;
  }

  void add_operand(std::uint32_t m) {
    const Message& message = plan_.messages[m];
    const std::uint32_t unit = pieces_of(message).front().to;
    const std::uint64_t bytes = bytes_of(message);
    const OpPlace at{message.dst, message.step + message.late_steps};
    const auto [receive, landed] = landed_.front();
    landed_.pop_front();
    const OpId added = sum(at, plan_.begin[unit], landed, {receive});
    wait(added, message, End::kTo, held_by_);
    holds(message, added);
    if (bytes != 0) added_.push_back(added);
  }

  // The operand added to what stands at that place of the rank's buffer.
  OpId sum(OpPlace at, std::uint64_t offset, const Slice& operand, ProgramWriter::After after) {
    if (operand.bytes == 0) return builder_.join(at, after);
    if (options_.adders != 0) at.lane = static_cast<std::uint16_t>(1 + sums_ % options_.adders);
    ++sums_;
    return builder_.add_to(at, {BufferId(at.rank.value), offset, operand.bytes}, operand, after);
  }

  void add_send(std::uint32_t m) {
    const Message& message = plan_.messages[m];
    const OpId send = builder_.send({message.src, message.step}, channel_[m],
                                    memory_of(message.src, message, End::kFrom), {came_});
    reads(message, send);
    if (message.src.value < options_.unbounded_from && options_.in_flight != 0 &&
        sent_.size() >= options_.in_flight) {
      builder_.add_edge(sent_[sent_.size() - options_.in_flight], send);
    }
    sent_.push_back(send);
  }

  const CollectivePlan& plan_;
  const CollectiveLowering& options_;
  const std::uint32_t ranks_;
  ProgramWriter builder_;
  std::vector<std::vector<std::uint32_t>> of_rank_;  // the messages with an end there
  std::vector<ChannelId> channel_;                   // of every message
  // Of the rank whose program is being written:
  std::vector<OpId> held_by_;  // by unit: after which it stands there as it is sent
  std::vector<OpId> read_by_;  // by unit: its last send
  std::unordered_map<std::uint32_t, std::vector<OpId>> summed_from_;  // by unit: reduces within
  std::vector<OpId> sent_;
  std::vector<OpId> added_;                    // reduces of operands
  std::vector<OpId> arrived_;                  // receives
  std::deque<std::pair<OpId, Slice>> landed_;  // operands to be added, with their receives
  std::uint64_t sums_ = 0;                     // reduces so far
  std::uint64_t landings_ = 0;                 // operands so far
  OpId came_;
  BufferId landing_;
  std::uint64_t stride_ = 0;  // of the places there
};

}  // namespace

Schedule draft_collective(const CollectivePlan& plan, const CollectiveLowering& options) {
  return LoweredCollective(plan, options).run().build_draft();
}

Schedule lower_collective(const CollectivePlan& plan, const CollectiveLowering& options) {
  return LoweredCollective(plan, options).run().build();
}

}  // namespace slackline::sched
