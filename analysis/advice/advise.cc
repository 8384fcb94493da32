#include "analysis/advice/advise.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "analysis/advice/makespan_floor.h"
#include "analysis/engines/analytic.h"
#include "analysis/in_threads.h"
#include "base/statistics.h"
#include "sched/compile.h"

namespace slackline::analysis {
namespace {

// Confirmed together. Fixed, so that what is confirmed depends on nothing else.
constexpr std::uint32_t kBatch = 4;
constexpr double kNearTie = 1.02;
// Times that differ by less are one time, computed twice.
constexpr double kSame = 1e-9;
// A simulator's flows may end that much too early, relative to the whole, where they share links.
constexpr double kEarly = 1e-6;

void predict_one(Candidate& candidate, const WiringOf& wiring_of) {
  const sched::Schedule schedule = sched::compile(candidate.spec);
  const machine::Setting setting(schedule, candidate.platform,
                                 wiring_of(candidate.platform, schedule));
  const sched::Trace trace = run_analytic(setting);
  candidate.ops = schedule.op_count();
  candidate.predicted_s = trace.makespan_s();
  candidate.contended = trace.contended;
  candidate.floor_s = candidate.predicted_s;
  if (trace.contended) candidate.floor_s = makespan_floor_s(setting);
}

std::vector<std::uint32_t> by_estimate(std::span<const Candidate> candidates) {
  std::vector<std::uint32_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return candidates[a].estimate_s() < candidates[b].estimate_s();
  });
  return order;
}

// The first ones, and the best of every placement that is nearly as good.
std::vector<std::uint32_t> first_to_confirm(std::span<const Candidate> candidates,
                                            std::span<const std::uint32_t> order,
                                            std::uint32_t at_least) {
  std::vector<std::uint32_t> chosen;
  std::map<machine::Placement::Kind, bool> kinds;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Candidate& candidate = candidates[order[i]];
    const bool near = candidate.estimate_s() <= kNearTie * candidates[order[0]].estimate_s();
    const bool first_of_kind = !kinds[candidate.platform.placement.kind];
    if (i >= at_least && !(near && first_of_kind)) continue;
    kinds[candidate.platform.placement.kind] = true;
    chosen.push_back(order[i]);
  }
  return chosen;
}

bool may_beat(const Candidate& candidate, double time_s) {
  const double floor_s = candidate.floor_s * (candidate.contended ? 1 - kEarly : 1);
  return !candidate.confirmed_s && floor_s < time_s * (1 - kSame);
}

double best_confirmed_s(std::span<const Candidate> candidates) {
  double best_s = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    if (candidate.confirmed_s) best_s = std::min(best_s, *candidate.confirmed_s);
  }
  return best_s;
}

}  // namespace

void predict(std::span<Candidate> candidates, const WiringOf& wiring_of, std::uint32_t jobs,
             const AdviceProgress& progress) {
  // The largest first, so that no thread is left with one at the end.
  std::vector<std::uint32_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return candidates[a].ops > candidates[b].ops;
  });
  in_threads(
      static_cast<std::uint32_t>(candidates.size()), jobs,
      [&](std::uint32_t i) { predict_one(candidates[order[i]], wiring_of); },
      [&](std::uint32_t done) {
        if (progress) progress("predicting", done, candidates.size());
      });
}

Confirmed confirm(std::span<Candidate> candidates, const ConfirmRequest& request,
                  const Confirm& engine, const AdviceProgress& progress) {
  Confirmed result;
  const std::vector<std::uint32_t> order = by_estimate(candidates);
  std::vector<std::uint32_t> next = first_to_confirm(candidates, order, request.at_least);
  std::uint64_t ops = 0;
  std::vector<std::uint32_t> open;
  do {
    std::vector<const Candidate*> batch;
    for (const std::uint32_t i : next) batch.push_back(&candidates[i]);
    if (progress) progress("confirming", result.count, result.count + open.size() + next.size());
    const std::vector<double> times_s = engine(batch);
    for (std::size_t i = 0; i < next.size(); ++i) {
      candidates[next[i]].confirmed_s = times_s[i];
      ops += candidates[next[i]].ops;
    }
    result.count += static_cast<std::uint32_t>(next.size());
    const double best_s = best_confirmed_s(candidates);
    open.clear();
    for (const std::uint32_t i : order) {
      if (may_beat(candidates[i], best_s)) open.push_back(i);
    }
    next.assign(open.begin(), open.begin() + std::min<std::size_t>(kBatch, open.size()));
  } while (!next.empty() && ops < request.most_ops);
  result.open = static_cast<std::uint32_t>(open.size());
  return result;
}

void sample_noise(std::span<Candidate> candidates, const WiringOf& wiring_of,
                  const machine::DelayPlan& noise, std::uint32_t samples, std::uint32_t most,
                  std::uint32_t jobs, const AdviceProgress& progress) {
  if (samples == 0) return;
  std::vector<std::uint32_t> order = ranking(candidates);
  order.resize(std::min<std::size_t>(order.size(), most));
  for (std::size_t i = 0; i < order.size(); ++i) {
    Candidate& candidate = candidates[order[i]];
    const sched::Schedule schedule = sched::compile(candidate.spec);
    const machine::Setting setting(schedule, candidate.platform,
                                   wiring_of(candidate.platform, schedule));
    machine::PlanRuns runs;
    runs.count = samples;
    runs.jobs = jobs;
    runs.plan = [&](std::uint32_t sample) {
      machine::DelayPlan drawn = noise;
      drawn.seed += sample;
      return drawn;
    };
    runs.progress = [&](std::uint32_t done) {
      if (progress) progress("adding noise", i * samples + done, order.size() * samples);
    };
    std::vector<double> times_s = kAnalyticEngine.runs(
        setting, runs, {1, [](const sched::Trace& trace, std::span<double> kept) {
                          kept[0] = trace.makespan_s();
                        }});
    std::sort(times_s.begin(), times_s.end());
    const double median_s = base::median(times_s);
    if (median_s > 0) candidate.noise_ratio = base::percentile(times_s, 95) / median_s;
  }
}

std::vector<std::uint32_t> ranking(std::span<const Candidate> candidates) {
  std::vector<std::uint32_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto key = [&](std::uint32_t i) {
    const Candidate& candidate = candidates[i];
    return std::tuple(!candidate.confirmed_s,
                      candidate.confirmed_s.value_or(candidate.estimate_s()), i);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  // Of runs of equal times, by what they cost.
  for (std::size_t begin = 0; begin < order.size();) {
    const double from_s = std::get<1>(key(order[begin]));
    std::size_t end = begin + 1;
    while (end < order.size() && std::get<0>(key(order[end])) == std::get<0>(key(order[begin])) &&
           std::get<1>(key(order[end])) <= from_s * (1 + kSame)) {
      ++end;
    }
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(begin),
              order.begin() + static_cast<std::ptrdiff_t>(end),
              [&](std::uint32_t a, std::uint32_t b) {
                return std::tuple(candidates[a].ops, a) < std::tuple(candidates[b].ops, b);
              });
    begin = end;
  }
  return order;
}

}  // namespace slackline::analysis
