#include <fmt/format.h>

#include <algorithm>

#include "analysis/fit/measuring_schedule.h"
#include "analysis/fit/standard_measurements.h"
#include "base/error.h"
#include "base/units.h"
#include "cli/answer.h"
#include "cli/calibration_report.h"
#include "cli/commands.h"
#include "cli/human.h"
#include "cli/joining.h"
#include "cli/output_file.h"
#include "hw/leader.h"
#include "machine/input_text.h"

namespace slackline::cli {
namespace {

constexpr std::uint32_t kDefaultRepeats = 8;
constexpr std::uint64_t kLeastMemory = std::uint64_t{4} << 20;
constexpr std::uint64_t kMostMemory = std::uint64_t{64} << 30;

// Rank 0 of two measures, `repeats` times everything, in `memory_bytes`; both wait as `waiting`
// says, and the other has to hw::follow(). `line` of a point is where write_points() puts it.
std::vector<analysis::MeasuredPoint> measure_points(hw::Mesh& mesh, hw::Transport& transport,
                                                    std::uint32_t repeats,
                                                    std::uint64_t memory_bytes, hw::Waiting waiting,
                                                    Console& console) {
  const analysis::MeasuringSchedule measuring = analysis::measuring_schedule(
      analysis::standard_measurements(repeats, transport.has_atomics(), memory_bytes),
      memory_bytes);
  hw::RunOptions options;
  options.prove = false;
  options.waiting = waiting;
  hw::Leader leader(mesh, transport);
  console.phase("measuring");
  const hw::RunResult result = leader.run(measuring.schedule, options);
  std::vector<analysis::MeasuredPoint> points =
      points_of(measuring, result.trace, analysis::Issued::kBeforeThePost);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].line = static_cast<std::uint32_t>(i + 2);
    points[i].seconds =
        std::clamp(points[i].seconds, analysis::kMinPointSeconds, analysis::kMaxPointSeconds);
  }
  return points;
}

class Calibrate : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.option(
        "--points", "FILE", points_,
        "measured points (CSV): kind,bytes,messages,seconds; or what perftest (--out_json), "
        "osu_latency, osu_bw or sendrecv_perf wrote (default: measure here)");
    joining_.declare(arguments);
    arguments.number(
        "--repeats", "N", repeats_,
        fmt::format("without --points: measure everything so often (default: {})", kDefaultRepeats),
        1, 1000);
    arguments.option("--memory", "SIZE", memory_,
                     fmt::format("without --points: what the messages measured go through, at "
                                 "least 4MiB; caches hold some of it (default: {})",
                                 sched::format_bytes(analysis::kMeasuringMemory)));
    arguments.file("--save-points", save_points_,
                   "without --points: write there what was measured (CSV)");
    arguments.option("-b,--base", "PLATFORM", base_,
                     fmt::format("where figures are from that the points do not determine, as for "
                                 "simulate --platform (default: {})",
                                 machine::kDefaultPlatform));
    arguments.option("--name", "NAME", name_, "of the platform (default: measured)");
    arguments.output("-o,--output", output_, "write the platform there (TOML)");
    arguments.file("--residuals", residuals_, "write there how well each point is met (CSV)");
    reader_.declare(arguments, "every outlier, not the first few");
    arguments.example("--transport tcp --name loopback -o loopback.toml");
    arguments.example("--points points.csv --base fractus -o mine.toml");
  }

  int run(Console& console) override {
    CalibrationRun run;
    run.base = machine::load_platform(base_.value_or(std::string(machine::kDefaultPlatform)));
    if (name_) machine::require_plain(*name_, "--name");
    if (!points_) return measure(run, console);
    check_points_alone();
    run.file = *points_;
    console.phase("reading");
    run.points = analysis::read_points(
        machine::read_input_file(*points_, "points", "a file of measured points"), *points_);
    report(run, console);
    return 0;
  }

 private:
  void check_points_alone() const {
    const std::string_view other = !joining_.given().empty() ? joining_.given()
                                   : repeats_                ? "--repeats"
                                   : memory_                 ? "--memory"
                                   : save_points_            ? "--save-points"
                                                             : "";
    if (other.empty()) return;
    throw InputError(
        fmt::format("{} beside --points: it says how to measure; expected one of them", other));
  }

  int measure(CalibrationRun& run, Console& console) const {
    constexpr std::uint32_t kRanks = 2;
    const std::uint64_t memory =
        memory_ ? sched::parse_bytes(*memory_, "--memory") : analysis::kMeasuringMemory;
    if (memory < kLeastMemory || memory > kMostMemory) {
      throw InputError(fmt::format("--memory: '{}'; expected a size from 4MiB to 64GiB", *memory_));
    }
    joining_.check_rails({});
    joining_.check(kRanks);
    return joining_.run_ranks(kRanks, console, [&](const hw::MeshOptions& place, Console& seen) {
      const JoinedRank joined = joining_.join(place, {"command: calibrate"}, seen);
      if (place.rank != 0) {
        hw::follow(*joined.mesh, *joined.transport);
        return 0;
      }
      run.file = fmt::format("measured on {}", joined.transport->name());
      run.points =
          measure_points(*joined.mesh, *joined.transport, repeats_.value_or(kDefaultRepeats),
                         memory, joining_.waiting(), seen);
      if (save_points_) write_output_file(*save_points_, analysis::write_points(run.points));
      report(run, seen);
      return 0;
    });
  }

  void report(CalibrationRun& run, Console& console) const {
    console.phase("fitting");
    run.found = analysis::calibrate(run.points, run.base);
    run.found.platform.name = name_.value_or("measured");
    const std::string toml = platform_file(run);
    if (residuals_) write_output_file(*residuals_, residual_csv(run));
    Answer answer(reader_,
                  {fmt::format("{}: {}, {}", run.file, human_count(run.points.size(), "point"),
                               human_count(run.found.outliers, "outlier")),
                   std::nullopt});
    answer_calibration(answer, run);
    if (output_) {
      answer.say(fmt::format("  {}: the platform {}\n", *output_, run.found.platform.name));
    }
    if (output_ || !answer.for_people()) return deliver(output_, toml, answer, console);
    console.print(answer.text());
  }

  std::string platform_file(const CalibrationRun& run) const {
    std::string text = calibration_toml(run);
    try {
      machine::platform_from_toml(text, "the platform");
    } catch (const InputError& error) {
      // All figures were read once before, so only a name can be no UTF-8.
      throw InputError(fmt::format(
          "the platform could not be read back ({}); expected names in UTF-8", error.what()));
    }
    return text;
  }

  std::optional<std::string> points_;
  Joining joining_;
  std::optional<std::uint32_t> repeats_;
  std::optional<std::string> memory_;
  std::optional<std::string> save_points_;
  std::optional<std::string> base_;
  std::optional<std::string> name_;
  std::optional<std::string> output_;
  std::optional<std::string> residuals_;
  Reader reader_;
};

}  // namespace

std::unique_ptr<Command> make_calibrate() { return std::make_unique<Calibrate>(); }

}  // namespace slackline::cli
