#include "machine/delay_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "machine/input_text.h"

namespace slackline::machine {
namespace {

void check_rank(sched::RankId rank, std::uint32_t ranks, std::string_view what) {
  if (rank.value < ranks) return;
  throw InputError(fmt::format("delay plan: {}: rank {} does not exist; expected 0 to {}", what,
                               rank.value, ranks - 1));
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

void check_at(sched::Time at, std::string_view what) {
  if (at.count() >= 0 && at != sched::kForever) return;
  throw InputError(fmt::format(
      "delay plan: {}: at {} ps; expected at least 0, and a time that comes", what, at.count()));
}

void check_rate(sched::Rate rate, std::string_view what) {
  if (rate.bits_per_second != 0) return;
  throw InputError(fmt::format("delay plan: {}: a rate of 0; expected one above 0", what));
}

template <class Key, class Say>
void refuse_twice(std::vector<Key> keys, const Say& say) {
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice != keys.end()) throw InputError("delay plan: " + say(*twice));
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
  check_rank(delay.rank, schedule.rank_count(), what);
  if (delay.step >= schedule.step_count()) {
    throw InputError(fmt::format("delay plan: {}: the step does not exist; {}", what,
                                 below(schedule.step_count())));
  }
  check_by(delay.by, what);
}

void check(const PairRate& pair, std::uint32_t ranks) {
  const std::string what = fmt::format("slow pair {} to {}", pair.src.value, pair.dst.value);
  check_rank(pair.src, ranks, what);
  check_rank(pair.dst, ranks, what);
  check_rate(pair.rate, what);
}

// Who sends what differs from schedule to schedule, and one plan may serve several; but a rank
// beside itself is a slip, unless it does send to itself.
void check_self(const PairRate& pair, const sched::Schedule& schedule) {
  if (pair.src != pair.dst) return;
  for (const sched::Channel& channel : schedule.channels()) {
    if (channel.src == pair.src && channel.dst == pair.dst) return;
  }
  throw InputError(
      fmt::format("delay plan: slow pair {0} to {0}: the schedule has no messages from rank {0} to "
                  "itself; expected two ranks",
                  pair.src.value));
}

void check(const Straggler& straggler, std::uint32_t ranks) {
  const std::string what = fmt::format("straggler {}", straggler.rank.value);
  check_rank(straggler.rank, ranks, what);
  if (!(straggler.slowdown >= 1) || !std::isfinite(straggler.slowdown)) {
    throw InputError(
        fmt::format("delay plan: {}: a slowdown of {}; expected a finite number of at least 1",
                    what, straggler.slowdown));
  }
  check_by(straggler.by, what);
}

void check(const Noise& noise, std::size_t place, std::uint32_t ranks) {
  const std::string what = fmt::format("noise {}", place);
  for (const sched::RankId rank : noise.ranks) check_rank(rank, ranks, what);
  refuse_twice(noise.ranks, [&](sched::RankId rank) {
    return fmt::format("{}: rank {} stands twice; expected it once", what, rank.value);
  });
  validate(noise.of, "delay plan: " + what);
  if (noise.chance.value > 1'000'000) {
    throw InputError(fmt::format("delay plan: {}: a chance of {} in a million; expected at most 1",
                                 what, noise.chance.value));
  }
}

void check(const LinkRate& rate) {
  if (rate.link.empty()) {
    throw InputError("delay plan: a link rate names no link; expected the name of one");
  }
  const std::string what = fmt::format("rate of link {}", in_quotes(rate.link));
  check_rate(rate.rate, what);
  check_at(rate.at, what);
}

void check(const Failure& failure, std::uint32_t ranks) {
  if (failure.link.empty() == !failure.rank.valid()) {
    throw InputError(fmt::format("delay plan: a failure of {}; expected a link or a rank",
                                 failure.rank.valid() ? "both a link and a rank" : "nothing"));
  }
  const std::string what = failure.rank.valid()
                               ? fmt::format("failure of rank {}", failure.rank.value)
                               : fmt::format("failure of link {}", in_quotes(failure.link));
  if (failure.rank.valid()) check_rank(failure.rank, ranks, what);
  check_at(failure.at, what);
}

}  // namespace

void validate(const DelayPlan& plan, const sched::Schedule& schedule) {
  for (const PairRate& pair : plan.pairs) check_self(pair, schedule);
  for (const OpDelay& delay : plan.ops) check(delay, schedule);
  for (const StepDelay& delay : plan.steps) check(delay, schedule);
  validate(plan, schedule.rank_count());
}

void validate(const DelayPlan& plan, std::uint32_t ranks) {
  std::vector<std::pair<sched::RankId, sched::RankId>> pairs;
  for (const PairRate& pair : plan.pairs) {
    check(pair, ranks);
    pairs.emplace_back(pair.src, pair.dst);
  }
  refuse_twice(pairs, [](const auto& pair) {
    return fmt::format("slow pair {} to {} stands twice; expected one rate for it",
                       pair.first.value, pair.second.value);
  });
  std::vector<sched::RankId> stragglers;
  for (const Straggler& straggler : plan.stragglers) {
    check(straggler, ranks);
    stragglers.push_back(straggler.rank);
  }
  refuse_twice(stragglers, [](sched::RankId rank) {
    return fmt::format("straggler {} stands twice; expected one slowdown for it", rank.value);
  });
  for (std::size_t i = 0; i < plan.noise.size(); ++i) check(plan.noise[i], i, ranks);
  std::vector<std::pair<std::string, sched::Time>> rates;
  for (const LinkRate& rate : plan.link_rates) {
    check(rate);
    rates.emplace_back(rate.link, rate.at);
  }
  refuse_twice(rates, [](const auto& rate) {
    return fmt::format("link {} has two rates from {} on; expected one", in_quotes(rate.first),
                       sched::format_time(rate.second));
  });
  for (const Failure& failure : plan.failures) check(failure, ranks);
}

}  // namespace slackline::machine
