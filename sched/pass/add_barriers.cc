#include "sched/pass/add_barriers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/grouped.h"
#include "sched/dissemination.h"
#include "sched/pass/require_no_results.h"
#include "sched/program_writer.h"
#include "sched/schedule_rewriter.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kUncreditedWindow = 2;
constexpr std::uint32_t kNotInStep = 0xffffffffu;

class BarrierPass {
 public:
  explicit BarrierPass(const Schedule& schedule)
      : in_(schedule),
        ranks_(schedule.rank_count()),
        out_(ranks_),
        copy_(in_, out_),
        barrier_(out_, ranks_),
        step_(schedule.op_count(), kNotInStep),
        phase_(schedule.op_count(), 0),
        on_channel_(2 * schedule.channels().size(), 0) {}

  Schedule run() {
    find_data();
    if (ranks_ == 1 || barriers() == 0) return in_;
    const std::uint64_t ops =
        in_.op_count() + std::uint64_t{ranks_} * barriers() * (2 * barrier_.rounds() + 2);
    if (ops >= 1ull << 31) {
      throw InputError(fmt::format(
          "order=lockstep: {} barriers of {} ranks make {} operations; expected less than {}",
          barriers(), ranks_, ops, 1ull << 31));
    }
    out_.reserve(ops, in_.edges().size() + 4 * ops, in_.slices().size());
    add_channels();
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      find_phases(RankId(r));
      add_program(RankId(r));
      add_edges(RankId(r));
    }
    copy_.finish();
    return out_.build();
  }

 private:
  // A barrier of one rank.
  struct Barrier {
    std::vector<OpId> receives;  // by round
    MessageBarrier::Ends ends;
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

  void add_channels() {
    for (std::uint32_t i = 0; i < in_.op_count(); ++i) {
      const Op& op = in_.ops()[i];
      if (step_[i] == kNotInStep || op.kind != OpKind::kRecv) continue;
      Channel& channel = out_.channel(op.channel);
      if (channel.window == 0) channel.window = kUncreditedWindow;
    }
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (std::uint32_t t = 0; t < barrier_.rounds(); ++t) barrier_.channel(RankId(r), t);
    }
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
        if (waits_here && !first) {
          held.push_back(op);
        } else {
          copy_.keep(OpId(op));
        }
      }
      if (waits_here) add_barrier(rank, 0);
      for (const std::uint32_t op : held) copy_.keep(OpId(op));
      if (p + 1 < steps_) add_barrier(rank, p + 1);
    }
  }

  void add_receives(RankId rank, std::uint32_t step) {
    if (before_step(step) == nullptr) return;
    Barrier& barrier = barriers_[step - first_];
    barrier.receives = barrier_.post({rank, number_[step]});
    if (step < first_ + 2) return;
    for (const OpId receive : barrier.receives) {
      out_.add_edge(barriers_[step - 2 - first_].ends.exit, receive);
    }
  }

  // The receives of the next barrier are posted after the last one and before this one is entered,
  // so that whoever has left this one may send.
  void add_barrier(RankId rank, std::uint32_t step) {
    add_receives(rank, step + 1);
    Barrier& barrier = barriers_[step - first_];
    barrier.ends = barrier_.pass({rank, number_[step]}, barrier.receives);
    if (const Barrier* next = before_step(step + 1)) {
      for (const OpId receive : next->receives) {
        out_.add_edge(receive, barrier.ends.enter, On::kIssued);
      }
    }
    if (step > first_) out_.add_edge(barriers_[step - 1 - first_].ends.exit, barrier.ends.enter);
  }

  void add_edges(RankId rank) {
    for (OpId id = in_.first_op(rank); id < in_.end_op(rank); ++id.value) {
      const OpId kept = copy_[id];
      const std::uint32_t step = step_[id.value];
      if (step == kNotInStep) continue;
      const Op& op = in_.op(id);
      const Barrier* opening = before_step(step);
      if (is_source(op) && opening != nullptr) out_.add_edge(opening->ends.exit, kept);
      if (const Barrier* next = before_step(step + 1)) out_.add_edge(kept, next->ends.enter);
      if (op.kind != OpKind::kRecv) continue;
      if (opening != nullptr) out_.add_edge(kept, opening->ends.enter, On::kIssued);
      if (!uncredited(op) || step == 0) continue;
      if (const Barrier* last = before_step(step - 1)) out_.add_edge(last->ends.exit, kept);
    }
  }

  const Schedule& in_;
  const std::uint32_t ranks_;
  ProgramWriter out_;
  ScheduleRewriter copy_;
  MessageBarrier barrier_;
  std::uint32_t steps_ = 0;
  std::vector<std::uint32_t> number_;      // in the schedule, of the steps that send anything
  std::uint32_t first_ = 1;                // the first step that has a barrier before it
  std::vector<std::uint32_t> step_;        // by operation; kNotInStep for what carries no data
  std::vector<std::uint32_t> phase_;       // by operation
  std::vector<std::uint32_t> on_channel_;  // the last phase on each side of each channel
  std::vector<Barrier> barriers_;          // of the rank whose program is being written
};

}  // namespace

Schedule add_barriers(const Schedule& schedule) {
  require_static(schedule, "add_barriers");
  require_no_results(schedule, "add_barriers");
  return BarrierPass(schedule).run();
}

}  // namespace slackline::sched
