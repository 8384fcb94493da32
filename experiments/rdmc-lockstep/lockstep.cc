// RDMC, sections 4.3 and 5.3: steps that synchronise nothing, against steps in lockstep.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <vector>

#include "analysis/engines/analytic.h"
#include "experiments/experiment.h"
#include "experiments/facts.h"
#include "experiments/multicast.h"
#include "machine/distribution.h"
#include "machine/draw.h"
#include "sched/compile.h"

namespace slackline::experiments {
namespace {

using machine::Distribution;
using sched::RankId;

constexpr std::array<std::string_view, 2> kOrders = {"async", "lockstep"};
using Pair = std::array<double, kOrders.size()>;  // by order

// Delays of what a rank sends at a step: the same in both orders, however many operations either
// makes of the step.
struct Noise {
  std::string name;
  Distribution of;
  double chance = 1;
};

struct Machine {
  std::string name;
  machine::Platform platform;
  std::array<Noise, 2> noises;
};

Distribution exponential(sched::Time mean) {
  Distribution d;
  d.kind = Distribution::Kind::kExponential;
  d.mean = mean;
  return d;
}

Distribution constant(sched::Time value) {
  Distribution d;
  d.kind = Distribution::Kind::kConstant;
  d.low = value;
  return d;
}

Machine machine_of(std::string name, std::string_view platform, sched::Time stop, double chance) {
  Machine m{std::move(name), machine::load_platform(platform), {}};
  const auto jitter = sched::Time{static_cast<std::int64_t>(block_time_s(m.platform) / 8 * 1e12)};
  m.noises = {Noise{"jitter", exponential(jitter), 1},
              Noise{fmt::format("stops of {}", sched::format_time(stop)), constant(stop), chance}};
  return m;
}

machine::DelayPlan draw_delays(const Noise& noise, std::uint32_t ranks, std::uint32_t steps,
                               std::uint64_t seed) {
  machine::DelayPlan plan;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t step = 0; step < steps; ++step) {
      if (machine::draw_uniform({seed, rank, 1, step}) >= noise.chance) continue;
      plan.steps.push_back({RankId(rank), step, noise.of.draw(seed, rank, 0, step), true});
    }
  }
  return plan;
}

Multicast message_to(std::uint32_t nodes, std::uint64_t bytes, std::string_view order) {
  return {"binomial-pipeline", nodes, bytes, kMiB, fmt::format("order={}", order)};
}

// Of n exponential draws the largest is, on the average, their mean times 1 + 1/2 + … + 1/n.
double draws_max(const sched::Plan& plan) {
  std::vector<std::uint32_t> senders(plan.steps, 0);
  for (const sched::Transfer& transfer : plan.transfers) ++senders[transfer.step];
  double sum = 0;
  for (const std::uint32_t n : senders) {
    for (std::uint32_t i = n; i > 0; --i) sum += 1.0 / i;
  }
  return sum;
}

struct Point {
  std::uint32_t nodes = 0;
  double draws_max = 0;  // sum over steps of the expected largest of its senders' draws, in means
  Pair quiet{};          // ms
  std::array<Pair, 2> noisy{};  // ms, by noise, on the average
  double worst_sample = 0;      // async / lockstep, with the same delays

  // What a noise adds in lockstep beyond what it adds in async.
  double added_ms(std::size_t noise) const {
    return (noisy[noise][1] - quiet[1]) - (noisy[noise][0] - quiet[0]);
  }
};

Point measure(const Machine& m, std::uint32_t nodes, std::uint64_t bytes, std::uint32_t samples) {
  Point point;
  point.nodes = nodes;
  std::array<std::optional<sched::Schedule>, 2> schedules;
  const auto ms = [&](std::size_t order, const machine::DelayPlan& delays) {
    const sched::Schedule& schedule = *schedules[order];
    return 1e3 * delivered_s(schedule, analysis::run_analytic({schedule, m.platform, delays}));
  };
  for (std::size_t o = 0; o < kOrders.size(); ++o) {
    schedules[o] = schedule_of(message_to(nodes, bytes, kOrders[o]));
    point.quiet[o] = ms(o, {});
  }
  point.draws_max =
      draws_max(sched::plan_of(sched::parse_spec(spec_of(message_to(nodes, bytes, kOrders[0])))));
  const std::uint32_t steps = schedules[0]->step_count();
  for (std::size_t k = 0; k < m.noises.size(); ++k) {
    for (std::uint32_t seed = 0; seed < samples; ++seed) {
      const machine::DelayPlan delays = draw_delays(m.noises[k], nodes, steps, seed);
      const Pair found = {ms(0, delays), ms(1, delays)};
      for (std::size_t o = 0; o < kOrders.size(); ++o) point.noisy[k][o] += found[o] / samples;
      point.worst_sample = std::max(point.worst_sample, found[0] / found[1]);
    }
  }
  return point;
}

bool grows(const std::vector<double>& values) {
  return std::is_sorted(values.begin(), values.end(), std::less_equal<>()) &&
         values.front() < values.back();
}

void add_machine(ExperimentReport& report, const Machine& m,
                 const std::vector<std::uint32_t>& nodes, std::uint64_t bytes,
                 std::uint32_t samples) {
  std::vector<Point> points;
  for (const std::uint32_t n : nodes) points.push_back(measure(m, n, bytes, samples));
  ReportTable table{
      fmt::format("{}: {} MiB, ms (noise: mean of {} draws)", m.name, bytes / kMiB, samples),
      {"nodes", "async", "lockstep"}};
  Figure figure{"rdmc-lockstep-" + m.name,
                fmt::format("Lockstep over asynchronous steps, {} MiB, {}", bytes / kMiB, m.name),
                {"nodes, the sender included", 2},
                {"lockstep / async, in time", 0},
                {{"no noise", {}, {}, true}}};
  for (const Noise& noise : m.noises) {
    for (const std::string_view order : kOrders) {
      table.columns.push_back(fmt::format("{}, {}", noise.name, order));
    }
    figure.series.push_back({noise.name, {}, {}, false});
  }
  for (const Point& p : points) {
    table.add({static_cast<double>(p.nodes), p.quiet[0], p.quiet[1], p.noisy[0][0], p.noisy[0][1],
               p.noisy[1][0], p.noisy[1][1]});
    figure.series[0].add(p.nodes, p.quiet[1] / p.quiet[0]);
    for (std::size_t k = 0; k < m.noises.size(); ++k) {
      figure.series[k + 1].add(p.nodes, p.noisy[k][1] / p.noisy[k][0]);
    }
  }
  report.add(std::move(table), std::move(figure));

  Facts facts(report, "rdmc-lockstep");
  double worst_quiet = 0;
  double worst_noisy = 0;
  for (const Point& p : points) {
    worst_quiet = std::max(worst_quiet, p.quiet[0] / p.quiet[1]);
    worst_noisy = std::max(worst_noisy, p.worst_sample);
  }
  facts.judge("quiet", worst_quiet, m.name);
  facts.judge("same-noise", worst_noisy, m.name);
  for (std::size_t k = 0; k < m.noises.size(); ++k) {
    std::vector<double> ratios;
    std::vector<double> added;
    for (const Point& p : points) {
      ratios.push_back(p.noisy[k][1] / p.noisy[k][0]);
      added.push_back(p.added_ms(k));
    }
    const std::string where = fmt::format("{}, {}", m.name, k == 0 ? "jitter" : "stops");
    facts.judge_words("ratio", grows(ratios), fmt::format("{:.3f}", fmt::join(ratios, ", ")),
                      where);
    facts.judge_words("added", grows(added), fmt::format("{:.3g}", fmt::join(added, ", ")), where);
  }
  // A step in lockstep waits for the slowest of its senders.
  const Point& last = points.back();
  const double jitter_ms = 1e3 * sched::seconds(m.noises[0].of.mean);
  facts.judge("largest-draws", (last.noisy[0][1] - last.quiet[1]) / jitter_ms / last.draws_max,
              m.name);
}

// Noise of the machine: it strikes what holds a lane, so lockstep's barriers too.
void add_every_post(ExperimentReport& report, const std::vector<std::uint32_t>& nodes,
                    std::uint64_t bytes, std::uint32_t samples) {
  const machine::Platform platform = machine::load_platform("fractus");
  machine::DelayPlan plan;
  plan.noise.push_back(
      {{}, exponential(sched::Time{10'000'000}), sched::PartsPerMillion{100'000}, true});
  ReportTable table{fmt::format("fractus: {} MiB, ms, each post delayed with chance 10 % by an "
                                "exponential time of mean 10 us ({} draws)",
                                bytes / kMiB, samples),
                    {"nodes", "async", "lockstep", "lockstep / async"}};
  std::vector<double> ratios;
  for (const std::uint32_t n : nodes) {
    Pair mean{};
    for (std::size_t o = 0; o < kOrders.size(); ++o) {
      const sched::Schedule schedule = schedule_of(message_to(n, bytes, kOrders[o]));
      const machine::Samples runs =
          analysis::kAnalyticEngine.samples({schedule, platform, plan}, {samples, 2, {}});
      mean[o] =
          1e3 * std::accumulate(runs.makespan_s.begin(), runs.makespan_s.end(), 0.0) / samples;
    }
    ratios.push_back(mean[1] / mean[0]);
    table.add({static_cast<double>(n), mean[0], mean[1], ratios.back()});
  }
  report.tables.push_back(std::move(table));
  Facts(report, "rdmc-lockstep")
      .judge_words("every-post", grows(ratios), fmt::format("{:.3f}", fmt::join(ratios, ", ")));
}

ExperimentReport rdmc_lockstep(const Options& options) {
  ExperimentReport report{"Asynchronous steps against lockstep",
                          "RDMC (DSN 2018), sections 4.3 and 5.3, which measure neither"};
  std::vector<std::uint32_t> nodes = {4, 8, 16, 32, 64, 128, 256, 512};
  if (options.quick) nodes = {4, 16, 64};
  const std::uint64_t bytes = (options.quick ? 16 : 32) * kMiB;
  const std::uint32_t samples = options.quick ? 8 : 16;
  std::array machines = {
      machine_of("fractus", "fractus", sched::Time{100'000'000}, 0.01),
      machine_of("tcp-wan", "tcp-wan:nic=serial", sched::Time{200'000'000'000}, 0.001),
  };
  for (const Machine& m : machines) add_machine(report, m, nodes, bytes, samples);
  add_every_post(report, nodes, bytes, samples);
  report.constants = {
      {"machines", "presets fractus, and tcp-wan with serial NICs",
       "in the presets; no two blocks share a port here"},
      {"lockstep", "a barrier of zero-byte messages among all before each step", "assumed"},
      {"jitter",
       "exponential, its mean an eighth of a block's time, of each rank's send at each step",
       "assumed"},
      {"stops", "fractus: 100 us, 1 % of them", "stated (figure 5: roughly 100 us); assumed"},
      {"stops", "tcp-wan: 200 ms, 0.1 % of them",
       "assumed: the usual shortest time until TCP sends again"},
      {"message, block", fmt::format("{} MiB, 1 MiB", bytes / kMiB), "assumed"},
  };
  report.notes.push_back(
      "The first two tables delay both orders by the same times at the same ranks and steps. In "
      "the "
      "third each operation that is posted is at risk, and lockstep posts more of them.");
  return report;
}

}  // namespace

extern const Experiment kRdmcLockstep = {
    "rdmc-lockstep", "asynchronous steps against lockstep, under noise", rdmc_lockstep};

}  // namespace slackline::experiments
