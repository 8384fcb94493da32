#include "machine/delay_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sched/error.h"

namespace slackline::machine {
namespace {

void check_rank(sched::RankId rank, const sched::Schedule& schedule, std::string_view what) {
  if (rank.value < schedule.rank_count()) return;
  throw InputError(fmt::format("delay plan: {}: rank {} does not exist; expected 0 to {}", what,
                               rank.value, schedule.rank_count() - 1));
}

// "…; expected 0 to 7", or that there is none.
std::string below(std::uint32_t count) {
  return count == 0 ? "the schedule has none" : fmt::format("expected 0 to {}", count - 1);
}

void check_by(sched::Time by, std::string_view what) {
  if (by.count() >= 0 && by != sched::kForever) return;
  throw InputError(fmt::format("delay plan: {}: a delay of {} ps; expected at least 0, and an end",
                               what, by.count()));
}

void check(const OpDelay& delay, const sched::Schedule& schedule) {
  if (delay.op.value >= schedule.op_count()) {
    throw InputError(fmt::format("delay plan: op {} does not exist; {}", delay.op.value,
                                 below(schedule.op_count())));
  }
  const std::string what = sched::describe(schedule, delay.op);
  check_by(delay.by, what);
  if (delay.rank.valid() && delay.rank != schedule.op(delay.op).rank) {
    throw InputError(fmt::format("delay plan: {} is said to be of rank {}; expected rank {}", what,
                                 delay.rank.value, schedule.op(delay.op).rank.value));
  }
}

void check(const StepDelay& delay, const sched::Schedule& schedule) {
  const std::string what = fmt::format("rank {}, step {}", delay.rank.value, delay.step);
  check_rank(delay.rank, schedule, what);
  if (delay.step >= schedule.step_count()) {
    throw InputError(fmt::format("delay plan: {}: the step does not exist; {}", what,
                                 below(schedule.step_count())));
  }
  check_by(delay.by, what);
}

void check(const PairRate& pair, const sched::Schedule& schedule) {
  const std::string what = fmt::format("slow pair {} to {}", pair.src.value, pair.dst.value);
  check_rank(pair.src, schedule, what);
  check_rank(pair.dst, schedule, what);
  if (pair.rate.bits_per_second == 0) {
    throw InputError(fmt::format("delay plan: {}: a rate of 0; expected one above 0", what));
  }
}

}  // namespace

void validate(const DelayPlan& plan, const sched::Schedule& schedule) {
  for (const OpDelay& delay : plan.ops) check(delay, schedule);
  for (const StepDelay& delay : plan.steps) check(delay, schedule);
  std::vector<std::pair<sched::RankId, sched::RankId>> seen;
  seen.reserve(plan.pairs.size());
  for (const PairRate& pair : plan.pairs) {
    check(pair, schedule);
    seen.emplace_back(pair.src, pair.dst);
  }
  std::sort(seen.begin(), seen.end());
  const auto twice = std::adjacent_find(seen.begin(), seen.end());
  if (twice != seen.end()) {
    throw InputError(
        fmt::format("delay plan: slow pair {} to {} stands twice; expected one rate for it",
                    twice->first.value, twice->second.value));
  }
}

}  // namespace slackline::machine
