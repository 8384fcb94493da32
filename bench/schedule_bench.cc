// What making, naming and proving a schedule costs, on one core. Rates are in operations per
// second: `data_ops` counts sends and receives of blocks, before credits; `ops` all of them.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <boost/graph/topological_sort.hpp>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "sched/compile.h"
#include "sched/digest.h"
#include "sched/event_graph.h"
#include "sched/graph.h"
#include "sched/schedule.h"
#include "sched/verify.h"

namespace slackline::sched {
namespace {

std::string spec_of(const benchmark::State& state) {
  return fmt::format("binomial-pipeline:ranks={},bytes={},block=1MiB", state.range(0),
                     format_bytes(static_cast<std::uint64_t>(state.range(1)) << 20));
}

double ops_before_credits(const Spec& spec) {
  return 2.0 * static_cast<double>(plan_of(spec).transfers.size());
}

void per_second(benchmark::State& state, const char* name, double count) {
  state.counters[name] = benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate);
}

void plan(benchmark::State& state) {
  const std::string text = spec_of(state);
  for (auto _ : state) benchmark::DoNotOptimize(plan_of(parse_spec(text)));
  per_second(state, "data_ops", ops_before_credits(parse_spec(text)));
}

// From the spec's text to the finished schedule, its digest included.
void compile_spec(benchmark::State& state) {
  const std::string text = spec_of(state);
  double ops = 0;
  double heap_bytes = 0;
  for (auto _ : state) {
    const Schedule schedule = compile(parse_spec(text));
    benchmark::DoNotOptimize(schedule.digest());
    ops = schedule.op_count();
    heap_bytes = static_cast<double>(schedule.heap_bytes());
  }
  per_second(state, "data_ops", ops_before_credits(parse_spec(text)));
  per_second(state, "ops", ops);
  state.counters["heap_bytes_per_op"] = heap_bytes / ops;
  state.counters["heap_bytes_per_data_op"] = heap_bytes / ops_before_credits(parse_spec(text));
}

void digest(benchmark::State& state) {
  const Schedule schedule = compile(parse_spec(spec_of(state)));
  for (auto _ : state) benchmark::DoNotOptimize(digest_of(schedule));
  per_second(state, "ops", schedule.op_count());
}

void prove(benchmark::State& state) {
  const Spec spec = parse_spec(spec_of(state));
  const Schedule schedule = compile(spec);
  for (auto _ : state) {
    const Diagnostics found = verify(schedule);
    if (!found.empty()) state.SkipWithError(found.front().message.c_str());
  }
  per_second(state, "data_ops", ops_before_credits(spec));
  per_second(state, "ops", schedule.op_count());
}

// All events in an order that respects every arc, by the loop of our own.
void topological_order_of_ours(benchmark::State& state) {
  const Schedule schedule = compile(parse_spec(spec_of(state)));
  for (auto _ : state) benchmark::DoNotOptimize(topological_order(schedule));
  per_second(state, "ops", schedule.op_count());
}

// The same as a graph of Boost's: made and sorted.
void topological_order_by_boost(benchmark::State& state) {
  const Schedule schedule = compile(parse_spec(spec_of(state)));
  for (auto _ : state) {
    const EventGraph graph(schedule);
    std::vector<std::uint32_t> order;
    order.reserve(num_vertices(graph));
    boost::topological_sort(graph, std::back_inserter(order));
    benchmark::DoNotOptimize(order.data());
  }
  per_second(state, "ops", schedule.op_count());
}

void event_graph(benchmark::State& state) {
  const Schedule schedule = compile(parse_spec(spec_of(state)));
  for (auto _ : state) benchmark::DoNotOptimize(EventGraph(schedule));
  per_second(state, "ops", schedule.op_count());
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"ranks", "blocks"})->Args({16, 256})->Args({512, 256})->Args({1024, 512});
  bench->Unit(benchmark::kMillisecond);
}

BENCHMARK(plan)->Apply(sizes);
BENCHMARK(compile_spec)->Apply(sizes);
BENCHMARK(digest)->Apply(sizes);
BENCHMARK(prove)->Apply(sizes);
BENCHMARK(topological_order_of_ours)->Apply(sizes);
BENCHMARK(topological_order_by_boost)->Apply(sizes);
BENCHMARK(event_graph)->Apply(sizes);

}  // namespace
}  // namespace slackline::sched
