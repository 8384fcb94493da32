// What a run on SimGrid costs by network, NIC discipline and noise, from a finished schedule, and
// with multicasts that overlap. By the clock on the wall, since SimGrid runs in a child process;
// `child_cpu_s` is the CPU time of that, which a busy machine lengthens less.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdint>
#include <string>

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "machine/workload.h"
#include "sched/compile.h"
#include "sim/simgrid_engine.h"

namespace slackline {
namespace {

using machine::DelayPlan;
using machine::Platform;
using sched::Schedule;

// Every post is late, by a microsecond on average: five times its own cost.
DelayPlan noise() {
  DelayPlan plan;
  plan.noise.emplace_back();
  plan.noise.back().of.kind = machine::Distribution::Kind::kExponential;
  plan.noise.back().of.mean = sched::Time{1'000'000};
  return plan;
}

// The NIC and the CPU are the same everywhere: fractus, of which only the network is replaced.
Platform platform_of(const std::string& network) {
  return machine::parse_platform_spec(
      network + (network.find(':') == std::string::npos ? ":" : ",") +
      "rate=100Gbps,latency=600ns,o_post=200ns,o_complete=200ns,gap=20ns");
}

double children_cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void run(benchmark::State& state, const Schedule& schedule, const Platform& platform,
         const DelayPlan& plan) {
  double makespan_s = 0;
  const double before_s = children_cpu_s();
  for (auto _ : state) makespan_s = sim::run_simgrid(schedule, platform, plan).makespan_s();
  state.counters["ops"] =
      benchmark::Counter(schedule.op_count(), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["makespan_s"] = makespan_s;
  state.counters["child_cpu_s"] =
      benchmark::Counter(children_cpu_s() - before_s, benchmark::Counter::kAvgIterations);
}

void pipeline(benchmark::State& state, const std::string& network, const DelayPlan& plan) {
  const std::string spec =
      fmt::format("binomial-pipeline:ranks={},bytes={}MiB", state.range(0), state.range(1));
  run(state, compile(sched::parse_spec(spec)), platform_of(network), plan);
}

// Eight multicasts of all ranks at once, whose roots are spread over them.
void overlapping(benchmark::State& state, const std::string& network) {
  machine::Workload workload;
  workload.ranks = 128;
  for (std::uint32_t g = 0; g < 8; ++g) {
    machine::WorkloadGroup group;
    group.name = fmt::format("group-{}", g);
    for (std::uint32_t r = 0; r < workload.ranks; ++r) group.ranks.emplace_back(r);
    group.pattern = fmt::format("binomial-pipeline:block=1MiB,root={}", 16 * g);
    workload.groups.push_back(group);
    workload.messages.push_back({g, sched::Time{0}, 32u << 20});
  }
  run(state, compose_workload(workload).schedule, platform_of(network), {});
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"ranks", "blocks"})->Args({512, 256})->Args({1024, 1024});
  bench->Unit(benchmark::kMillisecond)->UseRealTime();
}

const char* const kFatTree = "fat-tree:arity=16";
const char* const kDragonfly = "dragonfly:groups=16,chassis=4,routers=4,hosts=4";
const char* const kTorus = "torus:dims=8x8x16";
const char* const kRacks = "two-level:racks=64,hosts=16,oversubscription=4";
const char* const kFairRacks = "two-level:racks=64,hosts=16,oversubscription=4,nic=fair";

BENCHMARK_CAPTURE(pipeline, star, "star", {})->Apply(sizes);
BENCHMARK_CAPTURE(pipeline, star_noise, "star", noise())->Apply(sizes);
BENCHMARK_CAPTURE(pipeline, star_fair, "star:nic=fair", {})->Apply(sizes);
BENCHMARK_CAPTURE(pipeline, fat_tree, kFatTree, {})->Apply(sizes);
BENCHMARK_CAPTURE(pipeline, fat_tree_noise, kFatTree, noise())->Apply(sizes);
BENCHMARK_CAPTURE(pipeline, dragonfly, kDragonfly, {})->Apply(sizes);
BENCHMARK_CAPTURE(pipeline, torus, kTorus, {})->Apply(sizes);
BENCHMARK_CAPTURE(pipeline, racks, kRacks, {})->Apply(sizes);
BENCHMARK_CAPTURE(pipeline, racks_fair, kFairRacks, {})->Apply(sizes);
BENCHMARK_CAPTURE(overlapping, serial, "star")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(overlapping, fair, "star:nic=fair")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(overlapping, racks, "two-level:racks=8,hosts=16,oversubscription=4")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(overlapping, racks_fair, "two-level:racks=8,hosts=16,oversubscription=4,nic=fair")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace slackline
