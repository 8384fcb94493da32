// What a run costs by network, NIC discipline and noise, on SimGrid and beside it in the flow
// engine: from a finished schedule, of one multicast, of several that overlap, and of single
// messages. By the clock on the wall, since SimGrid runs in a child process; `child_cpu_s` is the
// CPU time of that, which a busy machine lengthens less.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "analysis/engines/flow_engine.h"
#include "machine/delay_plan.h"
#include "machine/draw.h"
#include "machine/platform.h"
#include "machine/wiring.h"
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

enum class Engine { kSimgrid, kFlow };

void run(benchmark::State& state, Engine engine, const Schedule& schedule, const Platform& platform,
         const DelayPlan& plan) {
  const machine::Wiring wiring(platform, schedule.rank_count());
  double makespan_s = 0;
  const double before_s = children_cpu_s();
  for (auto _ : state) {
    makespan_s = engine == Engine::kSimgrid
                     ? sim::run_simgrid({schedule, platform, wiring, plan}).makespan_s()
                     : analysis::run_flows({schedule, platform, wiring, plan}).makespan_s();
  }
  state.counters["ops"] =
      benchmark::Counter(schedule.op_count(), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["makespan_s"] = makespan_s;
  if (engine == Engine::kFlow) return;
  state.counters["child_cpu_s"] =
      benchmark::Counter(children_cpu_s() - before_s, benchmark::Counter::kAvgIterations);
}

Schedule pipeline(const benchmark::State& state) {
  return compile(sched::parse_spec(
      fmt::format("binomial-pipeline:ranks={},bytes={}MiB", state.range(0), state.range(1))));
}

// Eight multicasts of all ranks at once, whose roots are spread over them.
Schedule overlapping() {
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
  return compose_workload(workload).schedule;
}

// Messages of any size between any two ranks at any time: in no common rhythm.
Schedule irregular() {
  constexpr std::uint32_t kPairs = 512;
  constexpr std::uint32_t kMessages = 16'384;
  machine::Workload workload;
  workload.ranks = 128;
  std::uint32_t site = 0;
  const auto below = [&](std::uint64_t bound) {
    return machine::draw_below({1, 0, site++, 0}, bound);
  };
  for (std::uint32_t g = 0; g < kPairs; ++g) {
    machine::WorkloadGroup group;
    group.name = fmt::format("pair-{}", g);
    const auto src = static_cast<std::uint32_t>(below(workload.ranks));
    const auto way = static_cast<std::uint32_t>(1 + below(workload.ranks - 1));
    group.ranks = {sched::RankId(src), sched::RankId((src + way) % workload.ranks)};
    group.pattern = "chain:block=1MiB";
    workload.groups.push_back(group);
  }
  for (std::uint32_t m = 0; m < kMessages; ++m) {
    const auto at = sched::Time{static_cast<std::int64_t>(below(20'000'000'000))};
    workload.messages.push_back(
        {static_cast<std::uint32_t>(below(kPairs)), at, 10'000 + below(1'000'000)});
  }
  return compose_workload(workload).schedule;
}

struct Network {
  const char* name;
  const char* spec;
  DelayPlan plan;
};

// Each engine's runs stand beside the other's.
template <class Make>
void add(const char* name, const Network& network, Make&& make, bool sized) {
  for (const Engine engine : {Engine::kSimgrid, Engine::kFlow}) {
    auto* bench = benchmark::RegisterBenchmark(
        fmt::format("{}{}/{}", name, engine == Engine::kFlow ? "_by_flow" : "", network.name)
            .c_str(),
        [=](benchmark::State& state) {
          run(state, engine, make(state), platform_of(network.spec), network.plan);
        });
    bench->Unit(benchmark::kMillisecond)->UseRealTime();
    if (sized) bench->ArgNames({"ranks", "blocks"})->Args({512, 256})->Args({1024, 1024});
  }
}

bool add_all() {
  for (const Network& network : std::initializer_list<Network>{
           {"star", "star", {}},
           {"star_noise", "star", noise()},
           {"star_fair", "star:nic=fair", {}},
           {"fat_tree", "fat-tree:arity=16", {}},
           {"fat_tree_noise", "fat-tree:arity=16", noise()},
           {"dragonfly", "dragonfly:groups=16,chassis=4,routers=4,hosts=4", {}},
           {"torus", "torus:dims=8x8x16", {}},
           {"racks", "two-level:racks=64,hosts=16,oversubscription=4", {}},
           {"racks_fair", "two-level:racks=64,hosts=16,oversubscription=4,nic=fair", {}}}) {
    add(
        "pipeline", network, [](const benchmark::State& state) { return pipeline(state); }, true);
  }
  for (const Network& network : std::initializer_list<Network>{
           {"serial", "star", {}},
           {"fair", "star:nic=fair", {}},
           {"racks", "two-level:racks=8,hosts=16,oversubscription=4", {}},
           {"racks_fair", "two-level:racks=8,hosts=16,oversubscription=4,nic=fair", {}}}) {
    add(
        "overlapping", network, [](const benchmark::State&) { return overlapping(); }, false);
    add(
        "irregular", network, [](const benchmark::State&) { return irregular(); }, false);
  }
  return true;
}

[[maybe_unused]] const bool added = add_all();

}  // namespace
}  // namespace slackline
