// `run`: a schedule carried out for real, and its bytes proved.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/run_statistics.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/agreed_lines.h"
#include "cli/commands.h"
#include "cli/contents.h"
#include "cli/delay_options.h"
#include "cli/expectation.h"
#include "cli/joining.h"
#include "cli/multicast_option.h"
#include "cli/order_options.h"
#include "cli/output_file.h"
#include "cli/report_file.h"
#include "cli/run_metrics.h"
#include "cli/run_report.h"
#include "cli/schedule_source.h"
#include "cli/simulation_options.h"
#include "cli/sizes_option.h"
#include "cli/sweep.h"
#include "cli/unused_seed.h"
#include "engines/network.h"
#include "hw/driver.h"
#include "hw/rank_facts.h"
#include "hw/session.h"
#include "machine/delay_plan.h"
#include "machine/delays.h"
#include "machine/platform.h"
#include "machine/randomness.h"
#include "sched/trace_file.h"

namespace slackline::cli {
namespace {

constexpr std::uint64_t kMostIterations = 1u << 30;
// Of each size, where nothing else is said: enough for a p99, and for a first line within a second.
constexpr int kSweepMs = 500;

class Run : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    source_.declare_proof(arguments, Proof::kOnDemand,
                          "prove neither a schedule from a file nor the bytes that arrive");
    joining_.declare(arguments);
    multicast_.declare(arguments);
    arguments.option("--sizes", "SIZES", sizes_,
                     "run the pattern at each, in place of its bytes=: A..B doubling, A..B:xK, or "
                     "a list");
    arguments.number("--iterations", "N", iterations_, "how often it is carried out (default: 1)",
                     1, kMostIterations);
    arguments.option("--duration", "TIME", duration_,
                     "or for at least how long, up to 10 min (default: 500ms of each of --sizes)");
    arguments.number("--warm-up", "N", warm_up_,
                     "iterations before those; in the first, ranks connect (default: 1)", 0,
                     kMostIterations);
    arguments.flag("--no-timestamps", no_timestamps_, "do not time operations, only the whole");
    order_.declare(arguments);
    delays_.declare(arguments);
    arguments.option("-p,--platform", "PLATFORM", platform_,
                     "the machine by which stragglers, slack and what to expect are reckoned");
    expect_.declare(arguments);
    arguments.output("--trace", trace_file_, "write the times of every operation there");
    arguments.file("--report", report_file_, "write the run there as a page for a browser");
    arguments.file("--metrics", metrics_file_,
                   "write there, after each iteration, how the run goes on, for Prometheus");
    reader_.declare(arguments, "every rank, not the first few, and where each ran");
    arguments.excludes({"--iterations"}, {"--duration"});
    arguments.excludes({"--sizes"}, {"--trace"}, "a trace is of one run");
    arguments.excludes({"--sizes"}, {"--report"}, "a report is of one run");
    arguments.excludes({"--sizes"}, {"--metrics"}, "metrics are of one run");
    arguments.excludes({"--sizes"}, {"--expect"}, "one makespan is expected");
    arguments.excludes({"--no-timestamps"}, {"--trace"}, "a trace is times");
    arguments.excludes({"--no-timestamps"}, {"--report"}, "a report shows times");
    arguments.example("binomial-pipeline:ranks=4,bytes=64MiB,block=1MiB");
    arguments.example("pipeline.sched --transport tcp --iterations 20 --trace run.trace");
    arguments.example("allreduce:ranks=2 --sizes 1KiB..1MiB --bind core");
    arguments.example("pipeline.sched --expect 10% --of yesterday.json");
    arguments.example("pipeline.sched -t tcp --rank 1 --ranks 4 --root node0:7000");
    arguments.example("pipeline.sched --hosts hosts.txt");
  }

  int run(Console& console) override {
    hw::RunOptions options = resolve();
    if (sizes_) return sweep(options, console);
    if (report_file_) source_.takes(kMemoryOfReportedOp);
    const LoadedSchedule loaded = source_.load_proved_if_static(console);
    multicast_.apply(loaded.schedule, joining_);
    joining_.check(loaded.schedule.rank_count(), source_.is_standard_input());
    note_unused_seed(delays_.seed(), machine::draws(options.delays, loaded.schedule), console);
    hw::require_bearable(loaded.schedule,
                         machine::Delays(options.delays, loaded.schedule, options.platform));
    std::vector<double> slack_s;
    options.order = order(loaded.schedule, options, console, slack_s);
    // A run is not to be lost for what its page cannot show.
    if (report_file_) static_cast<void>(shown_on(loaded.schedule, options));
    const std::optional<Expectation> expected =
        expect_.resolve(loaded.schedule, setting(options, "simgrid", console), platform_, console);
    const Memory memory = memory_of(loaded.schedule);
    return joining_.run_ranks(
        loaded.schedule.rank_count(), console,
        [&](const hw::MeshOptions& place, Console& seen) {
          return run_rank(loaded, options, expected, place, seen);
        },
        memory.all, memory.largest);
  }

 private:
  // What the buffers of all ranks take, and those of the largest.
  struct Memory {
    std::uint64_t all = 0;
    std::uint64_t largest = 0;
  };
  static Memory memory_of(const sched::Schedule& schedule) {
    std::vector<std::uint64_t> bytes(schedule.rank_count(), 0);
    for (const sched::Buffer& buffer : schedule.buffers()) {
      bytes[buffer.rank.value] += buffer.bytes;
    }
    return {std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}),
            *std::max_element(bytes.begin(), bytes.end())};
  }

  hw::RunOptions resolve() const {
    hw::RunOptions options;
    options.iterations = iterations_.value_or(options.iterations);
    options.duration = duration();
    options.warm_up = warm_up_.value_or(options.warm_up);
    options.prove = !source_.proof_declined();
    options.waiting = joining_.waiting();
    options.timestamps = !no_timestamps_;
    check_places();
    options.delays = delays_.resolve();
    hw::require_applicable(options.delays);
    options.platform = machine::load_platform(platform_ ? *platform_ : machine::kDefaultPlatform);
    joining_.check_rails(options.platform.node);
    source_.require_rails(options.platform.node.rails);
    options.failure_timeout = joining_.failure_timeout();
    if (trace_file_) check_trace_file();
    return options;
  }

  // Each file has a place of its own.
  void check_places() const {
    const std::pair<std::string_view, const std::optional<std::string>&> files[] = {
        {"--trace", trace_file_}, {"--report", report_file_}, {"--metrics", metrics_file_}};
    for (const auto& [option, file] : files) {
      for (const auto& [before, other] : files) {
        if (before == option) break;
        if (!file || file != other) continue;
        throw InputError(fmt::format("{} and {} both go to {}; expected a place for each", before,
                                     option, *file));
      }
    }
  }

  // 0: by number.
  std::chrono::milliseconds duration() const {
    if (!duration_) return std::chrono::milliseconds(sizes_ && !iterations_ ? kSweepMs : 0);
    const double time_s = sched::seconds(sched::parse_time(*duration_, "--duration"));
    const std::chrono::duration<double> most = hw::kLongestDuration;
    if (!(time_s >= 1e-3 && time_s <= most.count())) {
      throw InputError(
          fmt::format("--duration: '{}'; expected a time from 1 ms to 600 s", *duration_));
    }
    return std::chrono::milliseconds(std::llround(time_s * 1e3));
  }

  // Everything is made ready before any rank is started, the largest size included.
  int sweep(hw::RunOptions options, Console& console) {
    const std::vector<std::uint64_t> bytes = parse_sizes(*sizes_);
    options.timestamps = false;  // nobody sees the times of operations
    std::vector<SweepSize> sizes;
    Memory most;
    SweepSubject subject;
    subject.proved = true;
    bool draws_any = false;
    for (const std::uint64_t size : bytes) {
      sizes.push_back({size, source_.load_of_size(size, "--sizes", console), options, {}});
      SweepSize& made = sizes.back();
      const sched::Schedule& schedule = made.loaded.schedule;
      multicast_.apply(schedule, joining_);
      hw::require_bearable(schedule, machine::Delays(options.delays, schedule, options.platform));
      made.options.order = order(schedule, options, console, made.slack_s);
      draws_any = draws_any || machine::draws(options.delays, schedule);
      subject.proved = subject.proved && made.loaded.proved;
      const Memory memory = memory_of(schedule);
      most = {std::max(most.all, memory.all), std::max(most.largest, memory.largest)};
    }
    note_unused_seed(delays_.seed(), draws_any, console);
    subject.name = without_key(sizes.front().loaded.name, "bytes");
    subject.sizes = sizes.size();
    subject.options = options;
    subject.reader = reader_;
    const std::uint32_t ranks = sizes.front().loaded.schedule.rank_count();
    joining_.check(ranks);
    return joining_.run_ranks(
        ranks, console,
        [&](const hw::MeshOptions& place, Console& seen) {
          const JoinedRank joined =
              joining_.join(place, agreed_of(sizes), seen, &deciding_schedule(sizes),
                            subject.options.platform.node);
          SweepReport report(subject);
          return run_sweep(sizes, joined, report, seen);
        },
        most.all, most.largest);
  }

  RunSetting setting(const hw::RunOptions& options, std::string_view engine,
                     Console& console) const {
    RunSetting predicted;
    predicted.platform = options.platform;
    predicted.delays = options.delays;
    predicted.engine = engine_or_flow(engine, console);
    predicted.policy = order_.policy();
    predicted.sends_in_flight = order_.sends_in_flight();
    return predicted;
  }

  // least-slack goes by the float of a predicted run.
  machine::IssueOrder order(const sched::Schedule& schedule, const hw::RunOptions& options,
                            Console& console, std::vector<double>& slack_s) const {
    RunSetting predicted = setting(options, "analytic", console);
    predicted.delays = {};
    SettledRun settled(predicted, schedule, console);
    slack_s = settled.release_slack_s();
    return settled.setting().order;
  }

  void check_trace_file() const {
    if (reader_.json && *trace_file_ == "-") {
      throw InputError(
          "--trace -: with --json the document is alone on standard output; expected a file");
    }
  }

  int run_rank(const LoadedSchedule& loaded, hw::RunOptions options,
               const std::optional<Expectation>& expected, const hw::MeshOptions& place,
               Console& console) const {
    std::vector<std::string> agreed = agreed_lines(options);
    agreed.insert(agreed.begin(), fmt::format("schedule: {}", to_string(loaded.schedule.digest())));
    const JoinedRank joined =
        joining_.join(place, std::move(agreed), console, &loaded.schedule, options.platform.node);
    options.on_quiet = [&](const std::string& what, std::chrono::duration<double> waited,
                           std::chrono::duration<double> patience) {
      console.phase(fmt::format("waiting for {}: nothing for {:.0f} s, of {:.0f} s", what,
                                waited.count(), patience.count()));
    };
    std::optional<RunMetrics> metrics;
    if (metrics_file_ && place.rank == 0) {
      metrics.emplace(*metrics_file_, loaded.name, to_string(loaded.schedule.digest()),
                      joined.transport->name(), loaded.schedule.rank_count());
      metrics->begin(console);
      options.on_iteration = [&](const hw::IterationEnd& end) { metrics->add(end, console); };
    }
    hw::Session session(*joined.mesh, *joined.transport);
    hw::RunResult result;
    try {
      result = session.run(loaded.schedule, options, [&](std::uint32_t done, std::uint32_t all) {
        console.progress("running", done, all);
      });
    } catch (const Error&) {
      write_partial(session, loaded, place.rank);
      throw;
    }
    if (result.breach) throw Error(fmt::format("the bytes are wrong: {}", *result.breach), 1);
    if (metrics) metrics->finish(console);
    const std::vector<hw::RankFacts> facts = hw::gather_facts(*joined.mesh, *joined.transport);
    if (place.rank != 0) return 0;
    return answer(loaded, options, *joined.transport, std::move(result), facts, expected, console);
  }

  // What this rank saw goes beside the place of the whole: FILE.rank3.
  void write_partial(const hw::Session& session, const LoadedSchedule& loaded,
                     std::uint32_t rank) const {
    if (!trace_file_ || *trace_file_ == "-" || !session.partial()) return;
    sched::Trace trace = *session.partial();
    trace.title = loaded.title;
    write_output_file(fmt::format("{}.rank{}", *trace_file_, rank), sched::write_trace(trace));
  }

  int answer(const LoadedSchedule& loaded, const hw::RunOptions& options,
             const hw::Transport& transport, hw::RunResult result,
             const std::vector<hw::RankFacts>& facts, const std::optional<Expectation>& expected,
             Console& console) const {
    result.trace.title = loaded.title;
    const double measured_s = analysis::statistics_of(result.makespans_s).median_s;
    if (trace_file_) {
      console.phase("writing");
      deliver(trace_file_, sched::write_trace(result.trace), console);
      if (*trace_file_ == "-") {
        if (expected) console.note(expected->line(measured_s));
        return !expected || expected->allows(measured_s) ? 0 : 1;
      }
    }
    report(loaded, options, result, console);
    const RealRun run{std::string(transport.name()),
                      options,
                      result,
                      figures_of(loaded.schedule, loaded.pattern, result.trace, result.makespans_s,
                                 hw::line_rate(facts)),
                      facts,
                      link_use(loaded.schedule, {}, &result.trace),
                      trace_file_,
                      machine::idle_delays(options.delays, loaded.schedule, options.platform)};
    Contents contents(
        loaded, result.trace,
        [&](sched::RankId rank, double time_s) {
          return result.clock_errors[rank.value].at(time_s);
        },
        options.timestamps);
    if (result.makespans_s.size() + options.warm_up > 1) contents.speak_of_one_iteration();
    Answer answer(reader_, subject_of(loaded));
    answer_run(answer, run);
    contents.add_to(answer);
    if (expected) expected->say(answer, measured_s);
    console.print(answer.text());
    return contents.ok() && (!expected || expected->allows(measured_s)) ? 0 : 1;
  }

  // The network on which a page shows the run.
  static machine::Setting shown_on(const sched::Schedule& schedule, const hw::RunOptions& options) {
    return {schedule, options.platform, engines::wiring_of(options.platform, schedule),
            options.delays};
  }

  void report(const LoadedSchedule& loaded, const hw::RunOptions& options,
              const hw::RunResult& result, Console& console) const {
    if (!report_file_) return;
    report::Report page{loaded.name, loaded.schedule, {}, {}, {}, {}};
    const machine::Setting setting = shown_on(loaded.schedule, options);
    page.runs.push_back(reported_run("carried out", result.trace, setting));
    if (result.makespans_s.size() > 1) {
      page.samples_s = result.makespans_s;
      page.samples_of = "iterations";
    }
    write_report_file(report_file_, page, console);
  }

  ScheduleSource source_;
  Joining joining_;
  MulticastOption multicast_;
  OrderOptions order_;
  ExpectOptions expect_;
  DelayOptions delays_{{true, false}};
  std::optional<std::string> sizes_, duration_, platform_, trace_file_, report_file_, metrics_file_;
  std::optional<std::uint32_t> iterations_, warm_up_;
  bool no_timestamps_ = false;
  Reader reader_;
};

}  // namespace

std::unique_ptr<Command> make_run() { return std::make_unique<Run>(); }

}  // namespace slackline::cli
