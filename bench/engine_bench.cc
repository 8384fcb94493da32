// What a makespan costs, by each engine, on one core: from a finished schedule, and from the spec.
// Rates are in operations of the schedule per second, credits included.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/flow_engine.h"
#include "analysis/engines/longest_path.h"
#include "analysis/engines/stream.h"
#include "analysis/slack/timed_slack.h"
#include "analysis/slack/tolerance.h"
#include "analysis/slack/validate.h"
#include "machine/platform.h"
#include "sched/compile.h"
#ifdef SLACKLINE_HAVE_SIMGRID
#include "sim/simgrid_engine.h"
#endif

namespace slackline {
namespace {

using machine::Platform;
using sched::Schedule;

std::string spec_of(const benchmark::State& state) {
  return fmt::format("binomial-pipeline:ranks={},bytes={}MiB", state.range(0), state.range(1));
}

void per_second(benchmark::State& state, const Schedule& schedule) {
  state.counters["ops"] =
      benchmark::Counter(schedule.op_count(), benchmark::Counter::kIsIterationInvariantRate);
}

void longest_path(benchmark::State& state) {
  const Schedule schedule = compile(sched::parse_spec(spec_of(state)));
  const Platform platform = machine::load_platform(machine::kDefaultPlatform);
  for (auto _ : state) {
    const auto trace = analysis::longest_path({schedule, platform});
    if (!trace) state.SkipWithError("the longest path gave no answer");
  }
  per_second(state, schedule);
}

void stream_of_spec(benchmark::State& state) {
  const sched::Spec spec = sched::parse_spec(spec_of(state));
  const Platform platform = machine::load_platform(machine::kDefaultPlatform);
  std::uint64_t transfers = 0;
  for (auto _ : state) transfers = analysis::stream(spec, platform)->transfers;
  // Each transfer is a send, a receive and the two halves of a credit.
  state.counters["ops"] = benchmark::Counter(4.0 * static_cast<double>(transfers),
                                             benchmark::Counter::kIsIterationInvariantRate);
}

void stream_samples(benchmark::State& state) {
  const sched::Spec spec = sched::parse_spec(spec_of(state));
  const Platform platform = machine::load_platform(machine::kDefaultPlatform);
  machine::DelayPlan plan;
  plan.noise.emplace_back().of.kind = machine::Distribution::Kind::kUniform;
  plan.noise.back().of.high = sched::Time{1'000'000};
  constexpr std::uint32_t kSamples = 64;
  for (auto _ : state) {
    benchmark::DoNotOptimize(analysis::stream_samples(spec, platform, plan, {kSamples, 1, {}}));
  }
  state.counters["op_samples"] = benchmark::Counter(static_cast<double>(most_ops(spec)) * kSamples,
                                                    benchmark::Counter::kIsIterationInvariantRate);
}

void makespan(benchmark::State& state, const Schedule& schedule, std::string_view platform_name,
              sched::Trace (*run)(const machine::Setting&)) {
  const Platform platform = machine::load_platform(platform_name);
  for (auto _ : state) benchmark::DoNotOptimize(run({schedule, platform}).makespan_s());
  per_second(state, schedule);
}

void events(benchmark::State& state) {
  makespan(state, compile(sched::parse_spec(spec_of(state))), machine::kDefaultPlatform,
           analysis::run_events);
}

// Small operations in no common rhythm: nearly every event is alone in its instant.
struct Irregular {
  const char* spec;
  std::string_view platform;
};
constexpr Irregular kIrregular[] = {
    {"random-access:ranks=64,accesses=20000,by=fetch-add", machine::kDefaultPlatform},
    {"random-access:ranks=64,accesses=20000,access=add", machine::kDefaultPlatform},
    {"random-access:ranks=64,accesses=20000", machine::kDefaultPlatform},
    {"random-access:ranks=64,accesses=20000,tasks=1024,aggregation=destination",
     machine::kDefaultPlatform},
    {"hash-table:ranks=64,operations=20000,op=find,level=cr", "fdr-4node"},
    {"hash-table:ranks=64,operations=20000,op=insert,level=cw", "fdr-4node"},
    {"queue:ranks=64,operations=20000,op=push,level=crw", "fdr-4node"},
};
constexpr int kLastIrregular = 6;
static_assert(std::size(kIrregular) == kLastIrregular + 1);

void compile_irregular(benchmark::State& state) {
  const sched::Spec spec = sched::parse_spec(kIrregular[state.range(0)].spec);
  std::uint64_t ops = 0;
  for (auto _ : state) ops = compile(spec).op_count();
  state.counters["ops"] =
      benchmark::Counter(static_cast<double>(ops), benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(kIrregular[state.range(0)].spec);
}

void makespan_irregular(benchmark::State& state, sched::Trace (*run)(const machine::Setting&)) {
  const Irregular& of = kIrregular[state.range(0)];
  makespan(state, compile(sched::parse_spec(of.spec)), of.platform, run);
  state.SetLabel(of.spec);
}

void events_irregular(benchmark::State& state) { makespan_irregular(state, analysis::run_events); }

void spec_to_makespan(benchmark::State& state) {
  const std::string text = spec_of(state);
  const Platform platform = machine::load_platform(machine::kDefaultPlatform);
  for (auto _ : state) {
    const Schedule schedule = compile(sched::parse_spec(text));
    benchmark::DoNotOptimize(analysis::run_analytic({schedule, platform}).makespan_s());
  }
}

void slack(benchmark::State& state) {
  const Schedule schedule = compile(sched::parse_spec(spec_of(state)));
  const Platform platform = machine::load_platform(machine::kDefaultPlatform);
  const sched::Trace trace = analysis::run_analytic({schedule, platform});
  for (auto _ : state) {
    benchmark::DoNotOptimize(analysis::timed_slack({schedule, platform, {}}, trace).makespan_s);
  }
  per_second(state, schedule);
}

// The makespan as a function of the latency.
void tolerance(benchmark::State& state) {
  const Schedule schedule = compile(sched::parse_spec(spec_of(state)));
  const Platform platform = machine::load_platform(machine::kDefaultPlatform);
  const sched::Trace trace = analysis::run_analytic({schedule, platform});
  const machine::Wiring wiring(platform, schedule.rank_count());
  const analysis::Parameter latency;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        analysis::tolerance({schedule, platform, wiring, {}}, trace, std::span(&latency, 1))
            .size());
  }
  per_second(state, schedule);
}

// Runs that are delayed at 100 operations each, on links that messages share: each whole, or from a
// snapshot on (analysis/engines/delayed_runs.h). What is read of them is the same.
void trials(benchmark::State& state, bool whole) {
  const Schedule schedule = compile(sched::parse_spec(
      fmt::format("binomial-pipeline:ranks={},bytes={}MiB", state.range(0), state.range(1))));
  const Platform platform = machine::parse_platform_spec(
      "two-level:racks=4,hosts=16,oversubscription=4,placement=round-robin");
  const machine::Setting setting(schedule, platform);
  machine::Engine engine = analysis::kFlowEngine;
  if (whole) engine.run_delayed = nullptr;
  const sched::Trace undelayed = engine.run(setting);
  std::vector<machine::OpDelay> delays;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const sched::OpId op(static_cast<std::uint32_t>(std::uint64_t{i} * schedule.op_count() / 100));
    delays.push_back(analysis::trial_of(setting, op, sched::Time{10'000'000}));
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        analysis::run_trials(setting, undelayed, delays, engine, {}).trials.size());
  }
  state.counters["runs"] = benchmark::Counter(100, benchmark::Counter::kIsIterationInvariantRate);
}
void trials_whole(benchmark::State& state) { trials(state, true); }
void trials_from_snapshots(benchmark::State& state) { trials(state, false); }

#ifdef SLACKLINE_HAVE_SIMGRID
// By the clock on the wall: SimGrid runs in a child process.
void simgrid(benchmark::State& state) {
  makespan(state, compile(sched::parse_spec(spec_of(state))), machine::kDefaultPlatform,
           sim::run_simgrid);
}

void simgrid_irregular(benchmark::State& state) { makespan_irregular(state, sim::run_simgrid); }
#endif

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"ranks", "blocks"})->Args({512, 256})->Args({1024, 1024});
  bench->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK(longest_path)->Apply(sizes);
BENCHMARK(stream_of_spec)->Apply(sizes);
BENCHMARK(stream_samples)->Args({512, 256})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(events)->Apply(sizes);
BENCHMARK(compile_irregular)->DenseRange(0, kLastIrregular)->Unit(benchmark::kMillisecond);
BENCHMARK(events_irregular)->DenseRange(0, kLastIrregular)->Unit(benchmark::kMillisecond);
BENCHMARK(spec_to_makespan)->Apply(sizes);
BENCHMARK(slack)->Apply(sizes);
BENCHMARK(tolerance)->Apply(sizes);
BENCHMARK(trials_whole)->Args({64, 32})->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(trials_from_snapshots)->Args({64, 32})->UseRealTime()->Unit(benchmark::kMillisecond);

#ifdef SLACKLINE_HAVE_SIMGRID
BENCHMARK(simgrid)->Apply(sizes);
BENCHMARK(simgrid_irregular)
    ->DenseRange(0, kLastIrregular)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
#endif

}  // namespace
}  // namespace slackline
