#include "machine/randomness.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace slackline::machine {
namespace {

constexpr std::uint32_t kCertain = 1'000'000;

bool is_drawn(const Noise& noise) {
  if (noise.chance.value == 0) return false;
  if (noise.chance.value < kCertain) return true;
  switch (noise.of.kind) {
    case Distribution::Kind::kConstant:
      return false;
    case Distribution::Kind::kUniform:
      return noise.of.low != noise.of.high;
    case Distribution::Kind::kLognormal:
      return noise.of.sigma > 0;
    case Distribution::Kind::kExponential:
      return noise.of.mean.count() > 0;
    case Distribution::Kind::kTrace:
      return noise.of.values.size() > 1;
  }
  return true;
}

}  // namespace

bool draws_noise(const DelayPlan& delays) {
  return std::any_of(delays.noise.begin(), delays.noise.end(), is_drawn);
}

bool draws_outcomes(const sched::Schedule& schedule) {
  const auto regions = schedule.regions();
  return std::any_of(regions.begin(), regions.end(), [](const sched::Region& r) {
    const bool is_certain = r.p.value == 0 || r.p.value >= kCertain;
    return r.kind != sched::RegionKind::kRepeat && r.outcome == sched::RegionOutcome::kSampled &&
           !is_certain;
  });
}

bool draws(const DelayPlan& delays, const sched::Schedule& schedule) {
  return draws_noise(delays) || draws_outcomes(schedule);
}

void require_draws(std::uint32_t samples, bool draws, std::string_view what) {
  if (samples <= 1 || draws) return;
  throw InputError(fmt::format(
      "{} {}: nothing in this run is drawn at random, so that all would be the same; expected "
      "noise, or one sample",
      what, samples));
}

}  // namespace slackline::machine
