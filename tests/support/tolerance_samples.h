// Runs to vary a figure of, and the same run with the figure changed.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/engines/event_engine.h"
#include "analysis/slack/parameter.h"
#include "machine/lane.h"
#include "sched/compile.h"
#include "tests/property/random_runs.h"

namespace slackline::testing {

struct RunSample {
  std::string what;
  sched::Schedule schedule;
  machine::Platform platform;
  machine::DelayPlan plan;
};

/// A random program or pattern with at least one operation, on serial NICs (now and then fair
/// ones).
inline RunSample run_sample(std::uint32_t seed) {
  for (std::uint32_t dice_seed = seed;; dice_seed += 1'000'003) {
    Dice dice(dice_seed);
    std::string what = fmt::format("seed {}", seed);
    sched::Schedule schedule = [&] {
      if (dice.one_in(2)) return RandomSchedule(dice, 5, 35).build();
      const auto patterns = sched::plan_patterns();
      const auto& pattern = patterns[dice.below(static_cast<std::uint32_t>(patterns.size()))];
      what += ' ' + random_spec(dice, pattern.name, 6, 4);
      return compile(sched::parse_spec(what.substr(what.find_last_of(' ') + 1)));
    }();
    if (schedule.op_count() == 0) continue;
    machine::Platform platform = random_platform(
        dice, dice.one_in(5) ? machine::NicDiscipline::kFair : machine::NicDiscipline::kSerial);
    const bool atomics = std::ranges::any_of(
        schedule.ops(), [](const sched::Op& op) { return sched::is_atomic(op.kind); });
    // Completions cost a third of those without atomics something. Nothing is drawn for it.
    if (platform.gap.count() == 900'000 && !atomics) {
      platform.o_poll = sched::Time{300'000};
      platform.o_match = sched::Time{70'000};
      platform.o_post_recv = sched::Time{110'000};
    }
    // PCIe holds a third of those that it may: large messages where ports are fast, and small ones.
    if (platform.nic == machine::NicDiscipline::kSerial && platform.latency.count() == 1'500'000) {
      platform.pcie = {machine::Rate{33'000'000'000}, 256, 24};
    }
    machine::DelayPlan plan = dice.one_in(2) ? machine::DelayPlan{} : random_delays(dice, schedule);
    return {what, std::move(schedule), platform, plan};
  }
}

inline analysis::Parameter random_parameter(Dice& dice, const sched::Schedule& schedule) {
  using Kind = analysis::Parameter::Kind;
  analysis::Parameter parameter;
  parameter.kind = dice.pick({Kind::kLatency, Kind::kLatency, Kind::kPost, Kind::kCompletion,
                              Kind::kGap, Kind::kByteTime, Kind::kByteTime, Kind::kLaneTime,
                              Kind::kSlowdown, Kind::kOpDelay});
  parameter.rank = sched::RankId(dice.below(schedule.rank_count()));
  parameter.op = sched::OpId(dice.below(schedule.op_count()));
  // A star's links are its NICs'.
  if (dice.one_in(2)) parameter.link = machine::LinkId(dice.below(2 * schedule.rank_count()));
  return parameter;
}

/// Adds about `x` to the figure; `x` becomes what was added in whole picoseconds, bits per second
/// or eighths of a factor. A straggler's picoseconds are rounded, one by one. False if this figure
/// of this run cannot be changed so, or not by so little.
inline bool shift(RunSample& run, const analysis::Parameter& parameter, double& x) {
  using Kind = analysis::Parameter::Kind;
  const auto by = [&](sched::Time& figure) {
    const sched::Time more{static_cast<std::int64_t>(x * 1e12)};
    x = sched::seconds(more);
    figure += more;
    return figure.count() >= 0;
  };
  const auto straggler = [&]() -> machine::Straggler& {
    for (machine::Straggler& s : run.plan.stragglers) {
      if (s.rank == parameter.rank) return s;
    }
    return run.plan.stragglers.emplace_back(machine::Straggler{parameter.rank, 1, sched::Time{0}});
  };
  const auto slower = [&](sched::Rate rate) {
    const double byte_s = 1 / rate.bytes_per_second() + x;
    if (!(byte_s > 1e-13 && byte_s < 1e-6)) return sched::Rate{};
    const sched::Rate shifted{static_cast<std::uint64_t>(8 / byte_s)};
    x = 1 / shifted.bytes_per_second() - 1 / rate.bytes_per_second();
    return shifted;
  };
  switch (parameter.kind) {
    case Kind::kLatency:
      return by(run.platform.latency);
    case Kind::kPost:
      return by(run.platform.o_post);
    case Kind::kCompletion:
      return by(run.platform.o_complete);
    case Kind::kGap:
      return by(run.platform.gap);
    case Kind::kByteTime: {
      const sched::Rate shifted = slower(run.platform.rate);
      if (!parameter.link.valid()) {
        run.platform.rate = shifted;
      } else {
        const std::uint32_t link = parameter.link.value;
        run.plan.link_rates.push_back(
            {fmt::format("host-{}.{}", link / 2, link % 2 == 0 ? "out" : "in"), shifted,
             sched::Time{0}});
      }
      return shifted.bits_per_second > 0;
    }
    case Kind::kLaneTime:
      return x >= 0 && by(straggler().by);
    case Kind::kSlowdown:
      x = static_cast<double>(static_cast<std::int64_t>(x * 8)) / 8;
      straggler().slowdown += x;
      return straggler().slowdown >= 1;
    case Kind::kOpDelay:
      run.plan.ops.push_back({parameter.op, sched::Time{0}, false, sched::RankId::none()});
      return x >= 0 && by(run.plan.ops.back().by);
  }
  return false;
}

}  // namespace slackline::testing
