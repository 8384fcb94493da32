#include "sched/pass/add_barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "base/error.h"
#include "base/grouped.h"
#include "sched/builder.h"
#include "sched/pass/require_no_results.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kUncreditedWindow = 2;
constexpr std::uint32_t kNotInStep = 0xffffffffu;

class BarrierPass {
 public:
  explicit BarrierPass(const Schedule& schedule)
      : in_(schedule),
        ranks_(schedule.rank_count()),
        rounds_(static_cast<std::uint32_t>(std::bit_width(ranks_ - 1))),
        out_(ranks_),
        step_(schedule.op_count(), kNotInStep),
        phase_(schedule.op_count(), 0),
        on_channel_(2 * schedule.channels().size(), 0),
        new_id_(schedule.op_count()) {}

  Schedule run() {
    find_data();
    if (ranks_ == 1 || barriers() == 0) return in_;
    const std::uint64_t ops =
        in_.op_count() + std::uint64_t{ranks_} * barriers() * (2 * rounds_ + 2);
    if (ops >= 1ull << 31) {
      throw InputError(fmt::format(
          "order=lockstep: {} barriers of {} ranks make {} operations; expected less than {}",
          barriers(), ranks_, ops, 1ull << 31));
    }
    out_.reserve(ops, in_.edges().size() + 4 * ops, in_.slices().size());
    copy_tables();
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      find_phases(RankId(r));
      add_program(RankId(r));
      add_edges(RankId(r));
    }
    copy_matches();
    return out_.build();
  }

 private:
  // A barrier of one rank.
  struct Barrier {
    std::vector<OpId> receives;  // by round
    OpId enter;
    OpId exit;
  };

  // Steps are counted over those that send anything; barrier b stands before step b, or before step
  // b + 1 if the first needs none.
  std::uint32_t barriers() const { return steps_ == 0 ? 0 : steps_ - first_; }
  const Barrier* before_step(std::uint32_t step) const {
    return step >= first_ && step < steps_ ? &barriers_[step - first_] : nullptr;
  }

  bool is_source(const Op& op) const { return op.kind == OpKind::kSend || op.kind == OpKind::kPut; }

  // Which operations carry data, and at which of the steps.
  void find_data() {
    const std::vector<bool> control = in_.control_channels();
    std::vector<std::uint32_t> number(in_.step_count(), 0);
    for (const Op& op : in_.ops()) {
      if (is_source(op) && !control[op.channel.value]) number[op.step] = 1;
    }
    for (std::uint32_t s = 0; s < number.size(); ++s) {
      const bool occurs = number[s] != 0;
      number[s] = occurs ? steps_++ : kNotInStep;
      if (occurs) number_.push_back(s);
    }
    first_ = 1;
    for (std::uint32_t i = 0; i < in_.op_count(); ++i) {
      const Op& op = in_.ops()[i];
      const bool in_step =
          op.kind == OpKind::kCopy ||
          ((is_source(op) || op.kind == OpKind::kRecv) && !control[op.channel.value]);
      if (!in_step) continue;
      step_[i] = number[op.step];
      if (op.kind == OpKind::kRecv && in_.channel(op.channel).window == 0) first_ = 0;
    }
  }

  void copy_tables() {
    for (const Buffer& buffer : in_.buffers()) out_.add_buffer(buffer.rank, buffer.bytes);
    out_.add_slices(in_.slices());
    for (const Channel& channel : in_.channels()) out_.add_channel(channel);
    for (std::uint32_t i = 0; i < in_.op_count(); ++i) {
      const Op& op = in_.ops()[i];
      if (step_[i] == kNotInStep || op.kind != OpKind::kRecv) continue;
      Channel& channel = out_.channel(op.channel);
      if (channel.window == 0) channel.window = kUncreditedWindow;
    }
    for (const Fact& fact : in_.contract().pre) out_.add_pre(fact);
    for (const Fact& fact : in_.contract().post) out_.add_post(fact);
    out_.set_title(in_.title());
    out_.set_message_bytes(in_.message_bytes());
    first_channel_ = static_cast<std::uint32_t>(in_.channels().size());
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (std::uint32_t t = 0; t < rounds_; ++t) {
        Channel channel;
        channel.src = RankId(r);
        channel.dst = RankId((r + (1u << t)) % ranks_);
        channel.credit_on = barrier_channel(r, t);
        out_.add_channel(channel);
      }
    }
  }
  ChannelId barrier_channel(std::uint32_t src, std::uint32_t round) const {
    return ChannelId(first_channel_ + src * rounds_ + round);
  }

  // How many steps' barriers an operation comes after: what it waits for on its rank, and its own
  // if it sends.
  void find_phases(RankId rank) {
    for (OpId id = in_.first_op(rank); id < in_.end_op(rank); ++id.value) {
      const Op& op = in_.op(id);
      std::uint32_t phase = 0;
      const std::uint32_t step = step_[id.value];
      if (step != kNotInStep && is_source(op)) phase = step;
      if (step != kNotInStep && op.kind == OpKind::kRecv && uncredited(op) && step > 0) {
        phase = step - 1;
      }
      for (const Edge& edge : in_.edges_into(id)) {
        phase = std::max(
            phase, edge.on == On::kDone ? phase_when_done(edge.pred) : phase_[edge.pred.value]);
      }
      if (has_channel(op.kind)) {  // channels keep their order
        std::uint32_t& last =
            on_channel_[2 * op.channel.value + (op.kind == OpKind::kRecv ? 1 : 0)];
        last = std::max(last, phase);
        phase = last;
      }
      phase_[id.value] = phase;
    }
  }
  std::uint32_t phase_when_done(OpId id) const {
    const std::uint32_t step = step_[id.value];
    return step == kNotInStep ? phase_[id.value] : std::max(phase_[id.value], step);
  }
  bool uncredited(const Op& op) const { return in_.channel(op.channel).window == 0; }

  void add_program(RankId rank) {
    const std::uint32_t begin = in_.first_op(rank).value;
    const std::uint32_t count = in_.end_op(rank).value - begin;
    // Sorted by phase, otherwise as they stood.
    const base::Grouped<std::uint32_t> of_phase(steps_, [&](auto&& take) {
      for (std::uint32_t i = 0; i < count; ++i) take(phase_[begin + i], begin + i);
    });

    barriers_.assign(barriers(), Barrier{});
    add_receives(rank, first_);
    // A barrier before the first step comes after the receives of that step.
    std::vector<std::uint32_t> held;
    for (std::uint32_t p = 0; p < steps_; ++p) {
      held.clear();
      const bool waits_here = p == 0 && first_ == 0;
      for (const std::uint32_t op : of_phase[p]) {
        const bool first = in_.ops()[op].kind == OpKind::kRecv && step_[op] == 0;
        waits_here && !first ? held.push_back(op) : keep(OpId(op));
      }
      if (waits_here) add_barrier(rank, 0);
      for (const std::uint32_t op : held) keep(OpId(op));
      if (p + 1 < steps_) add_barrier(rank, p + 1);
    }
  }

  void keep(OpId id) {
    const Op& op = in_.op(id);
    new_id_[id.value] =
        op.arguments == kNoArguments ? out_.add(op) : out_.add(op, in_.arguments(op));
  }

  Op barrier_op(RankId rank, OpKind kind) const {
    Op op;
    op.kind = kind;
    op.rank = rank;
    op.step = number_[opened_];
    return op;
  }

  void add_receives(RankId rank, std::uint32_t step) {
    if (before_step(step) == nullptr) return;
    Barrier& barrier = barriers_[step - first_];
    opened_ = step;
    for (std::uint32_t t = 0; t < rounds_; ++t) {
      Op op = barrier_op(rank, OpKind::kRecv);
      op.channel = barrier_channel((rank.value + ranks_ - (1u << t)) % ranks_, t);
      barrier.receives.push_back(out_.add(op));
      if (step >= first_ + 2) {
        out_.add_edge(barriers_[step - 2 - first_].exit, barrier.receives.back());
      }
    }
  }

  // The receives of the next barrier are posted after the last one and before this one is entered,
  // so that whoever has left this one may send.
  void add_barrier(RankId rank, std::uint32_t step) {
    add_receives(rank, step + 1);
    Barrier& barrier = barriers_[step - first_];
    opened_ = step;
    barrier.enter = out_.add(barrier_op(rank, OpKind::kJoin));
    if (const Barrier* next = before_step(step + 1)) {
      for (const OpId receive : next->receives) {
        out_.add_edge(receive, barrier.enter, On::kIssued);
      }
    }
    OpId sent;
    for (std::uint32_t t = 0; t < rounds_; ++t) {
      Op op = barrier_op(rank, OpKind::kSend);
      op.channel = barrier_channel(rank.value, t);
      const OpId send = out_.add(op);
      if (t == 0) {
        out_.add_edge(barrier.enter, send);
      } else {
        out_.add_edge(sent, send, On::kIssued);
        out_.add_edge(barrier.receives[t - 1], send);
      }
      sent = send;
    }
    barrier.exit = out_.add(barrier_op(rank, OpKind::kJoin));
    out_.add_edge(sent, barrier.exit, On::kIssued);
    out_.add_edge(barrier.receives.back(), barrier.exit);
    if (step > first_) out_.add_edge(barriers_[step - 1 - first_].exit, barrier.enter);
  }

  void add_edges(RankId rank) {
    for (OpId id = in_.first_op(rank); id < in_.end_op(rank); ++id.value) {
      const OpId kept = new_id_[id.value];
      for (const Edge& edge : in_.edges_into(id)) {
        out_.add_edge(new_id_[edge.pred.value], kept, edge.on);
      }
      const std::uint32_t step = step_[id.value];
      if (step == kNotInStep) continue;
      const Op& op = in_.op(id);
      const Barrier* opening = before_step(step);
      if (is_source(op) && opening != nullptr) out_.add_edge(opening->exit, kept);
      if (const Barrier* next = before_step(step + 1)) out_.add_edge(kept, next->enter);
      if (op.kind != OpKind::kRecv) continue;
      if (opening != nullptr) out_.add_edge(kept, opening->enter, On::kIssued);
      if (!uncredited(op) || step == 0) continue;
      if (const Barrier* last = before_step(step - 1)) out_.add_edge(last->exit, kept);
    }
  }

  void copy_matches() {
    for (std::uint32_t i = 0; i < in_.op_count(); ++i) {
      const Op& op = in_.ops()[i];
      if (op.kind == OpKind::kPut && op.notify == Notify::kFlag && op.match.valid()) {
        out_.add_flag_match(new_id_[i], new_id_[op.match.value]);
      }
    }
  }

  const Schedule& in_;
  const std::uint32_t ranks_;
  const std::uint32_t rounds_;
  ScheduleBuilder out_;
  std::uint32_t steps_ = 0;
  std::vector<std::uint32_t> number_;      // in the schedule, of the steps that send anything
  std::uint32_t first_ = 1;                // the first step that has a barrier before it
  std::uint32_t first_channel_ = 0;        // of the barriers'
  std::uint32_t opened_ = 0;               // the step whose barrier is being written
  std::vector<std::uint32_t> step_;        // by operation; kNotInStep for what carries no data
  std::vector<std::uint32_t> phase_;       // by operation
  std::vector<std::uint32_t> on_channel_;  // the last phase on each side of each channel
  std::vector<OpId> new_id_;
  std::vector<Barrier> barriers_;  // of the rank whose program is being written
};

}  // namespace

Schedule add_barriers(const Schedule& schedule) {
  require_static(schedule, "add_barriers");
  require_no_results(schedule, "add_barriers");
  return BarrierPass(schedule).run();
}

}  // namespace slackline::sched
