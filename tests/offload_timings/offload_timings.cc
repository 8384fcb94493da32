// Multicasts compiled into NIC queues, over a grid of sizes: every program proved, its bytes
// followed through four interleavings, and then many seeded timings gone through.
//
//   offload_timings RANKS BLOCKS TIMINGS [PATTERN…]
//   offload_timings 2-64 1-64 512
//
// RANKS and BLOCKS are lists of numbers and ranges, "2-9,64". With 0 timings there is the proof
// alone. Prints a line per pattern and number of ranks, and ends with 1 at the first program that
// is not sound.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "offload/check_queues.h"
#include "offload/compile_queues.h"
#include "offload/emulate.h"
#include "sched/compile.h"
#include "tests/offload_timings/seeded_timings.h"

namespace {

using namespace slackline;           // NOLINT
using namespace slackline::offload;  // NOLINT

constexpr std::uint64_t kInterleavings = 4;  // one of each kind

struct Way {
  Mode mode;
  Readiness readiness;
  std::uint32_t window;
};

constexpr Way kWays[] = {
    {Mode::kSqWait, Readiness::kHandshake, 0},   {Mode::kSqWait, Readiness::kWindow, 1},
    {Mode::kSqWait, Readiness::kWindow, 3},      {Mode::kSqWait, Readiness::kNone, 0},
    {Mode::kMqEnable, Readiness::kHandshake, 0}, {Mode::kMqEnable, Readiness::kWindow, 1},
    {Mode::kMqEnable, Readiness::kWindow, 2},    {Mode::kMqEnable, Readiness::kNone, 0},
    {Mode::kRdmcMq, Readiness::kNone, 0},
};

// Seconds of the processor, since others may use it too.
double now_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Totals {
  std::uint64_t programs = 0;
  std::uint64_t entries = 0;
  std::uint64_t events = 0;  // of one timing each
  double schedule_s = 0;
  double compile_s = 0;
  double prove_s = 0;
  double emulate_s = 0;
  double follow_s = 0;
  void add(const Totals& more) {
    programs += more.programs;
    entries += more.entries;
    events += more.events;
    schedule_s += more.schedule_s;
    compile_s += more.compile_s;
    prove_s += more.prove_s;
    emulate_s += more.emulate_s;
    follow_s += more.follow_s;
  }
};

// Adds the time since the last one.
class Lap {
 public:
  void to(double& sum) {
    const double now = now_s();
    sum += now - last_;
    last_ = now;
  }

 private:
  double last_ = now_s();
};

std::vector<std::uint32_t> parse_list(std::string_view text, std::string_view what,
                                      std::uint32_t least) {
  std::vector<std::uint32_t> all;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t dash = item.find('-');
    const auto number = [&](std::string_view digits) {
      return static_cast<std::uint32_t>(
          sched::parse_count(std::string(digits), std::string(what), least, 4096));
    };
    const std::uint32_t from = number(item.substr(0, dash));
    const std::uint32_t to = dash == std::string_view::npos ? from : number(item.substr(dash + 1));
    for (std::uint32_t n = from; n <= to; ++n) all.push_back(n);
  }
  return all;
}

[[noreturn]] void unsound(std::string_view spec, const Way& way, std::string_view why) {
  fmt::print("NOT SOUND: {}, {}, {} {}: {}\n", spec, name(way.mode), name(way.readiness),
             way.window, why);
  std::exit(1);
}

void try_all(const std::string& spec, std::uint64_t timings, Totals& totals) {
  Lap lap;
  const sched::Schedule schedule = sched::compile(sched::parse_spec(spec));
  const MessageGraph graph(schedule);
  lap.to(totals.schedule_s);
  for (const Way& way : kWays) {
    QueueOptions options;
    options.mode = way.mode;
    options.readiness = way.readiness;
    if (way.window != 0) options.window = way.window;
    const QueueProgram program = compile_queues(schedule, graph, options);
    lap.to(totals.compile_s);
    const QueueDiagnostics found = check_queues(program, schedule, graph, {options.limits, 1});
    if (!found.empty()) unsound(spec, way, found.front().message);
    lap.to(totals.prove_s);
    ++totals.programs;
    totals.entries += program.entries().size();
    if (timings == 0) continue;
    Emulator emulator(program, schedule, graph);
    for (std::uint64_t seed = 0; seed < kInterleavings; ++seed) {
      if (emulator.is_sound(seed)) continue;
      const auto fault = emulator.run(static_cast<Timing>(seed % 4), seed).faults.front();
      unsound(spec, way, fmt::format("interleaving {}: {}", seed, fault));
    }
    lap.to(totals.emulate_s);
    SeededTimings seeded(program, schedule, graph);
    if (!seeded.ends()) unsound(spec, way, "stuck");
    const auto bad = seeded.first_unsound(0, timings);
    if (bad) unsound(spec, way, fmt::format("timing {}", *bad));
    lap.to(totals.follow_s);
    totals.events += seeded.events();
  }
}

void print(std::string_view what, const Totals& t, std::uint64_t timings) {
  fmt::print(
      "{}: {} programs, {} entries, {:.3g} events of timings; CPU seconds: schedules {:.1f}, "
      "compiling {:.1f}, proofs {:.1f}, interleavings {:.1f}, timings {:.1f}\n",
      what, t.programs, t.entries, static_cast<double>(t.events) * static_cast<double>(timings),
      t.schedule_s, t.compile_s, t.prove_s, t.emulate_s, t.follow_s);
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "offload_timings RANKS BLOCKS TIMINGS [PATTERN...]\n");
    return 2;
  }
  const auto ranks = parse_list(argv[1], "RANKS", 2);
  const auto blocks = parse_list(argv[2], "BLOCKS", 1);
  const std::uint64_t timings = sched::parse_count(argv[3], "TIMINGS", 0, 1u << 30);
  std::vector<std::string> patterns(argv + 4, argv + argc);
  if (patterns.empty()) {
    for (const sched::PatternEntry& pattern : sched::plan_patterns())
      patterns.emplace_back(pattern.name);
  }
  Totals all;
  for (const std::string& pattern : patterns) {
    for (const std::uint32_t n : ranks) {
      Totals here;
      for (const std::uint32_t k : blocks) {
        // The last block is short, and every rank is a root somewhere.
        try_all(fmt::format("{}:ranks={},bytes={},block=16,root={}", pattern, n, 16 * k - 3, k % n),
                timings, here);
      }
      print(fmt::format("{}, {} ranks", pattern, n), here, timings);
      all.add(here);
    }
  }
  print("all", all, timings);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    fmt::print(stderr, "offload_timings: {}\n", error.what());
    return error.exit_code();
  }
}
