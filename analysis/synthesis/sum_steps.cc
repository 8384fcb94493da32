#include "analysis/synthesis/sum_steps.h"

#include <algorithm>
#include <cstddef>

#include "sched/pass/lower_collective.h"

namespace slackline::analysis {
namespace {

// A place within a rank's program: before the sends of a step, 2 · step, or behind them, one more.
using Place = std::uint64_t;
constexpr Place before(std::uint32_t step) { return Place{2} * step; }
constexpr Place behind(std::uint32_t step) { return Place{2} * step + 1; }
constexpr std::uint32_t step_of(Place place) { return static_cast<std::uint32_t>(place / 2); }

class Steps {
 public:
  Steps(std::uint32_t ranks, std::uint32_t units, const SumMoves& moves)
      : moves_(moves),
        units_(units),
        steps_(moves.size()),
        next_send_(ranks),
        next_receive_(ranks),
        added_(ranks),
        landed_(ranks),
        state_(std::size_t{ranks} * units) {}

  std::vector<SumStep> run() {
    for_each_event(
        static_cast<std::uint32_t>(next_send_.size()), moves_, [&](std::size_t i) { send(i); },
        [&](std::size_t i) { come(i); });
    return std::move(steps_);
  }

 private:
  // Of a rank's unit.
  struct State {
    std::uint32_t ready = 0;   // the step from which on it may be sent as it is
    std::uint32_t unread = 0;  // the step behind the last that sends it
    Place replaced = 0;        // where something took its place
  };
  State& of(sched::RankId rank, std::uint32_t unit) {
    return state_[std::size_t{rank.value} * units_ + unit];
  }

  void send(std::size_t i) {
    const SumMove& move = moves_[i];
    std::uint32_t& next_send = next_send_[move.src.value];
    std::uint32_t& next_receive = next_receive_[move.dst.value];
    std::uint32_t step = std::max(next_send, next_receive);
    for (const std::uint32_t unit : move.units) {
      step = std::max(step, of(move.src, unit).ready);
      if (move.adds) continue;
      const State& there = of(move.dst, unit);
      step = std::max(step, there.ready);
      if (there.unread != 0) step = std::max(step, there.unread - 1);
    }
    if (move.adds) step = std::max(step, step_with_slots(move));
    next_send = next_receive = step + 1;
    steps_[i].step = step;
    for (const std::uint32_t unit : move.units) of(move.src, unit).unread = step + 1;
  }

  // The first in which its operands find the place of others that are added by then.
  std::uint32_t step_with_slots(const SumMove& move) {
    static constexpr std::uint64_t kSlots = sched::CollectiveLowering{}.slots;
    std::uint64_t& landed = landed_[move.dst.value];
    const std::vector<Place>& added = added_[move.dst.value];
    const std::uint64_t until =
        std::min(landed, std::max(landed + messages_of(move), kSlots) - kSlots);
    landed += messages_of(move);
    return until == 0 ? 0 : step_of(added[until - 1]) + 1;
  }

  void come(std::size_t i) {
    const SumMove& move = moves_[i];
    SumStep& at = steps_[i];
    std::vector<Place>& added = added_[move.dst.value];
    Place place = before(at.step);
    const std::uint32_t sent = next_send_[move.dst.value];
    if (move.adds && move.behind != 0 && sent > at.step) place = behind(sent - 1);
    for (const std::uint32_t unit : move.units) {
      const State& there = of(move.dst, unit);
      if (there.unread > at.step) place = std::max(place, behind(there.unread - 1));
      if (move.adds && there.replaced != 0) place = std::max(place, there.replaced + 2);
    }
    if (move.adds && !added.empty()) place = std::max(place, added.back());
    if (place > before(at.step)) {
      at.late = true;
      at.late_steps = step_of(place) - at.step;
      place = behind(step_of(place));
    }
    if (move.adds) added.insert(added.end(), messages_of(move), place);
    for (const std::uint32_t unit : move.units) {
      State& there = of(move.dst, unit);
      there.ready = std::max(there.ready, step_of(place) + 1);
      if (!move.adds) there.replaced = place;
    }
  }

  const SumMoves& moves_;
  const std::uint32_t units_;
  std::vector<SumStep> steps_;
  std::vector<std::uint32_t> next_send_, next_receive_;
  std::vector<std::vector<Place>> added_;  // by rank: of its operands' messages
  std::vector<std::uint64_t> landed_;      // by rank: its operands' messages
  std::vector<State> state_;
};

}  // namespace

std::vector<SumStep> sum_steps(std::uint32_t ranks, std::uint32_t units, const SumMoves& moves) {
  return Steps(ranks, units, moves).run();
}

}  // namespace slackline::analysis
