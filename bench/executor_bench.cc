// What the executor itself costs for each operation: one rank's program on a transport on which
// everything is done at once.
#include <benchmark/benchmark.h>

#include <vector>

#include "hw/executor.h"
#include "sched/compile.h"

namespace {

using namespace slackline;

// Messages arrive as soon as they are expected.
class InstantTransport final : public hw::Transport {
 public:
  std::string_view name() const override { return "instant"; }
  hw::LocalMemory register_memory(std::span<std::byte>) override { return {}; }
  hw::Address open(std::span<const hw::ChannelEnd>) override { return {}; }
  void connect(std::span<const hw::Address>) override {}
  void close(std::span<const hw::ChannelEnd>) override {}
  void wait(std::chrono::nanoseconds, int) override {}
  std::size_t max_segments() const override { return 4; }
  bool completes_in_order() const override { return false; }
  bool writes_in_order() const override { return true; }
  bool has_atomics() const override { return false; }

  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    for (const hw::WorkRequest& request : requests) {
      std::uint64_t bytes = 0;
      for (const hw::Segment& segment : request.local) bytes += segment.bytes;
      done_.push_back({request.tag, request.kind, request.immediate, bytes});
    }
    return requests.size();
  }
  std::size_t poll(std::span<hw::Completion> completions) override {
    const std::size_t count = std::min(completions.size(), done_.size() - next_);
    std::copy_n(done_.begin() + static_cast<std::ptrdiff_t>(next_), count, completions.begin());
    next_ += count;
    if (next_ == done_.size()) {
      done_.clear();
      next_ = 0;
    }
    return count;
  }

 private:
  std::vector<hw::Completion> done_;
  std::size_t next_ = 0;
};

void carry_out(benchmark::State& state, const char* spec, bool timestamps) {
  const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
  InstantTransport transport;
  hw::ExecutorOptions options;
  options.timestamps = timestamps;
  hw::Executor executor(schedule, sched::RankId(1), transport, options);
  const std::vector<hw::Greeting> greetings(schedule.rank_count(), executor.greeting());
  executor.connect(greetings);
  for (auto _ : state) {
    state.PauseTiming();
    executor.reset(false);
    state.ResumeTiming();
    executor.begin();
    while (!executor.finished()) executor.progress();
  }
  const double ops = static_cast<double>(state.iterations()) * executor.program().size();
  state.counters["time_per_op"] =
      benchmark::Counter(ops, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

constexpr const char* kChain = "chain:ranks=3,bytes=6400000,block=64";
constexpr const char* kPipeline = "binomial-pipeline:ranks=16,bytes=6400000,block=64";

BENCHMARK_CAPTURE(carry_out, chain, kChain, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(carry_out, chain_without_times, kChain, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(carry_out, pipeline, kPipeline, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(carry_out, pipeline_without_times, kPipeline, false)
    ->Unit(benchmark::kMillisecond);

}  // namespace
