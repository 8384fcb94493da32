#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "analysis/engines/delayed_runs.h"
#include "analysis/slack/timed_slack.h"
#include "analysis/slack/validate.h"
#include "base/enum_names.h"
#include "base/error.h"
#include "base/number.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/cores.h"
#include "cli/frozen_run.h"
#include "cli/joining.h"
#include "cli/measured_validation.h"
#include "cli/output_file.h"
#include "cli/report_file.h"
#include "cli/schedule_source.h"
#include "cli/simulation_options.h"
#include "cli/validation_report.h"
#include "engines/engines.h"
#include "experiments/plot.h"
#include "hw/leader.h"
#include "machine/without_effect.h"

namespace slackline::cli {
namespace {

// Bytes an operation, with its slack and a run to hold it against. Measured: 550.
constexpr std::uint64_t kMemoryOfOp = 650;
constexpr std::uint32_t kDefaultOps = 100;
// The delay, as a share of the makespan, where none is given and where there is no float to
// multiply.
constexpr double kDefaultShare = 0.01;
// On a real machine, where less is lost in the noise.
constexpr std::uint32_t kDefaultRealOps = 20;
constexpr double kDefaultRealShare = 0.25;
constexpr std::uint32_t kDefaultRepeats = 5;
constexpr std::string_view kTimes = "×";

double parse_number(std::string_view text, std::string_view what, std::string_view expected) {
  const auto value = base::whole_number<double>(text);
  if (!value || !std::isfinite(*value) || *value < 0) {
    throw InputError(fmt::format("{}: '{}'; expected {}", what, text, expected));
  }
  return *value;
}

// --delay: a time, or a multiple of each operation's float.
struct DelaySize {
  std::optional<sched::Time> by;
  double times = 0;
};

DelaySize parse_delay(const std::optional<std::string>& text) {
  DelaySize size;
  if (!text) return size;
  std::string_view rest = *text;
  const bool multiple = rest.starts_with("x") || rest.starts_with(kTimes);
  if (multiple) {
    rest.remove_prefix(rest.starts_with("x") ? 1 : kTimes.size());
    if (rest.empty()) {
      throw InputError(fmt::format(
          "--delay: '{}'; expected a time above 0 as 10us, or a multiple as x1.5", *text));
    }
    size.times = parse_number(rest, "--delay", "a time above 0 as 10us, or a multiple as x1.5");
    if (size.times > 0 && size.times <= 1e9) return size;
    throw InputError(fmt::format("--delay: '{}'; expected a multiple above 0, as x1.5", *text));
  }
  size.by = sched::parse_time(rest, "--delay");
  if (size.by->count() > 0) return size;
  throw InputError(
      fmt::format("--delay: '{}'; expected a time above 0, or a multiple as x1.5", *text));
}

sched::Time time_of(double time_s) {
  constexpr double kMost = 9e18;
  if (!(time_s * 1e12 < kMost)) {
    throw InputError(
        fmt::format("--delay: {:.3g} s for an operation; expected less than 104 days", time_s));
  }
  return sched::Time{std::max<std::int64_t>(1, std::llround(time_s * 1e12))};
}

constexpr base::EnumNames<analysis::OpChoice, 4> kChoices = {"random", "least", "most", "mixed"};

std::optional<analysis::OpChoice> choice_named(std::string_view name) {
  return kChoices.find(name);
}

class Validate : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    source_.declare_proof(arguments, Proof::kOnDemand);
    options_.declare(arguments);
    arguments.option("--ops", "N|all", ops_,
                     fmt::format("how many operations to delay (default: {}, on run {})",
                                 kDefaultOps, kDefaultRealOps));
    arguments.choice("--choose", "random|least|most|mixed", choose_,
                     "which: at random, those with the least or the most float, or a third of "
                     "each (default: mixed)",
                     choice_named);
    arguments.option("--delay", "TIME|xN", delay_,
                     "by how much, or by how many times its own float (default: 1 % of the "
                     "makespan, on run 25 %)");
    arguments.option("--tolerance", "X", tolerance_,
                     "the largest error, as a share of the makespan (default: 1e-9 where the "
                     "order on lanes and ports held and nothing was shared, 0.1 elsewhere)");
    joining_.declare(arguments);
    arguments.number("--repeats", "N", repeats_,
                     fmt::format("with --on run: how often each delayed run is made, in turn with "
                                 "undelayed ones (default: {})",
                                 kDefaultRepeats),
                     1, 10'000);
    declare_jobs(arguments, jobs_, "runs at a time (default: all cores)");
    arguments.drawing("--plot", plot_file_, "draw predicted against measured there (SVG)");
    arguments.file("--csv", csv_file_, "write there what each operation came to");
    arguments.file("--report", report_file_, "write there a page for a browser");
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("binomial-pipeline:ranks=8,bytes=8MiB,block=1MiB --ops all --delay 100us");
    arguments.example("pipeline.sched --on run --transport tcp --delay x2 -p loopback.toml");
    arguments.example("pipeline.sched -p apt --on simgrid --choose most --delay x2 --plot v.svg");
  }

  int run(Console& console) override {
    const bool real = options_.engine() == "run";
    const RunSetting setting = real ? options_.resolve_machine(console) : options_.resolve(console);
    source_.require_rails(setting.platform.node.rails);
    const Wanted wanted = read_wanted(setting, real);
    source_.takes(report_file_ ? kMemoryOfReportedOp : kMemoryOfOp);
    const LoadedSchedule loaded = source_.load_proved(console);
    return real ? run_here(wanted, setting, loaded, console)
                : simulate(wanted, setting, loaded, console);
  }

 private:
  // The options, read.
  struct Wanted {
    DelaySize size;
    double default_share = 0;  // of the makespan
    analysis::OpChoice choice = analysis::OpChoice::kMixed;
    std::uint32_t count = 0;
    ValidationTolerance tolerance;
    std::uint32_t jobs = 1;
    std::uint32_t repeats = 1;
    std::uint64_t seed = 0;

    sched::Time standard(double makespan_s) const { return time_of(default_share * makespan_s); }
    std::vector<machine::OpDelay> trials(std::span<const double> float_s, double makespan_s) const {
      std::vector<machine::OpDelay> all;
      for (const sched::OpId op : analysis::choose_ops(float_s, choice, count, seed)) {
        sched::Time by = size.by.value_or(standard(makespan_s));
        if (size.times > 0 && float_s[op.value] > 0) by = time_of(size.times * float_s[op.value]);
        all.push_back({op, by, false});
      }
      return all;
    }
    std::string choice_text(std::size_t ops, std::size_t of) const {
      return ops == of ? fmt::format("all {} ops", ops)
                       : fmt::format("{} of {} ops ({}, seed {})", ops, of, kChoices[choice], seed);
    }
    std::string delay_text(double makespan_s) const {
      const std::string by =
          sched::human_seconds(sched::seconds(size.by.value_or(standard(makespan_s))));
      if (size.times > 0)
        return fmt::format("{:g} times the float; {} without any", size.times, by);
      return size.by ? by : fmt::format("{}, {:g} % of the makespan", by, 100 * default_share);
    }
  };

  Wanted read_wanted(const RunSetting& setting, bool real) const {
    Wanted wanted;
    wanted.size = parse_delay(delay_);
    wanted.default_share = real ? kDefaultRealShare : kDefaultShare;
    wanted.choice = choose_.value_or(analysis::OpChoice::kMixed);
    wanted.jobs = jobs_of(jobs_);
    wanted.seed = setting.delays.seed;
    if (tolerance_) {
      wanted.tolerance.given =
          parse_number(*tolerance_, "--tolerance", "a share of the makespan, 0 or more, as 0.01");
    }
    wanted.count = real ? kDefaultRealOps : kDefaultOps;
    if (ops_ == "all") {
      if (choose_) {
        throw InputError("--choose beside --ops all: nothing is left to choose; expected one");
      }
      wanted.count = std::numeric_limits<std::uint32_t>::max();
    } else if (ops_) {
      wanted.count = static_cast<std::uint32_t>(sched::parse_count(*ops_, "--ops", 1, 1u << 31));
    }
    if (real) {
      hw::require_applicable(setting.delays);
      if (jobs_) throw InputError("--jobs with --on run: runs take turns; expected one of them");
      wanted.repeats = repeats_.value_or(kDefaultRepeats);
      return wanted;
    }
    const std::string_view other = repeats_ ? "--repeats" : joining_.given();
    if (!other.empty()) {
      throw InputError(fmt::format("{} without --on run; expected both", other));
    }
    return wanted;
  }

  int simulate(const Wanted& wanted, const RunSetting& setting, const LoadedSchedule& loaded,
               Console& console) const {
    const sched::Schedule& schedule = loaded.schedule;
    const SettledRun settled(setting, schedule, console);
    const machine::Setting& of = settled.setting();
    const sched::Trace trace = settled.run(console);
    console.phase("analysing");
    analysis::TimedSlack slack = analysis::timed_slack(of, trace);
    const bool explained = analysis::explains(slack);
    std::vector<DelayPrediction> predictions;
    const auto predict = [&](std::string_view name) {
      std::vector<double> trial_float_s = analysis::trial_floats_s(of, slack);
      predictions.push_back(
          {std::string(name), std::move(slack.total_float_s), std::move(trial_float_s)});
    };
    predict("order as it was");
    if (!explained) {
      slack = analysis::timed_slack(of, trace, analysis::WireTimes::kRun);
      predict("order and rates as they were");
    }
    std::vector<machine::OpDelay> trials =
        wanted.trials(predictions.front().float_s, trace.makespan_s());
    for (machine::OpDelay& trial : trials) {
      trial.whole_lane = analysis::delays_lane(of, trial.op);
    }
    machine::PlanRuns runs;
    runs.jobs = wanted.jobs;
    runs.progress = [&](std::uint32_t done) {
      console.progress("simulating", done, trials.size());
    };
    const analysis::Validation validation =
        analysis::run_trials(of, trace, trials, settled.engine(), runs);
    // Frozen runs are off: the flow engine can run each delay, and foresees what SimGrid does.
    const machine::Engine& flow = engines::engine_named("flow");
    if (settled.engine().shares_links && settled.engine().name != flow.name &&
        !flow.why_refused(of) && !are_exact(validation, predictions.front())) {
      predictions.push_back(by_flow(of, trials, wanted.jobs, console));
    }
    double latest_s = trace.makespan_s();  // what comes before that may have an effect
    for (const analysis::TrialResult& trial : validation.trials) {
      latest_s = std::max(latest_s, trace.makespan_s() + trial.shift_s);
    }
    return answer({loaded,
                   setting,
                   std::string(setting.engine->name),
                   validation,
                   predictions,
                   wanted.tolerance,
                   wanted.choice_text(trials.size(), schedule.op_count()),
                   wanted.delay_text(trace.makespan_s()),
                   {},
                   why_no_promise(of),
                   machine::without_effect(of, latest_s)},
                  reported_run("nothing delayed", trace, of), console);
  }

  static bool are_exact(const analysis::Validation& validation, const DelayPrediction& by) {
    const double exact_s = analysis::exact_within_s(validation.makespan_s);
    return std::ranges::all_of(by.errors_s(validation),
                               [&](double error_s) { return std::abs(error_s) <= exact_s; });
  }

  static DelayPrediction by_flow(const machine::Setting& setting,
                                 std::span<const machine::OpDelay> trials, std::uint32_t jobs,
                                 Console& console) {
    console.phase("foreseeing");
    const analysis::DelayedRuns runs(setting);
    DelayPrediction prediction{"each delay run by the flow engine", {}};
    for (const double makespan_s : runs.makespans_s(trials, jobs)) {
      prediction.shift_s.push_back(makespan_s - runs.undelayed().makespan_s());
    }
    return prediction;
  }

  int run_here(const Wanted& wanted, const RunSetting& setting, const LoadedSchedule& loaded,
               Console& console) const {
    const std::uint32_t ranks = loaded.schedule.rank_count();
    if (setting.platform.node.rails.are_several()) {
      throw Unsupported("validate by real runs: hosts of several NICs; expected rails=1");
    }
    joining_.check_rails(setting.platform.node);
    joining_.check(ranks, source_.is_standard_input());
    return joining_.run_ranks(ranks, console, [&](const hw::MeshOptions& place, Console& seen) {
      const std::string digest = to_string(loaded.schedule.digest());
      const JoinedRank joined = joining_.join(place, {"command: validate", "schedule: " + digest},
                                              seen, &loaded.schedule);
      if (place.rank != 0) {
        hw::follow(*joined.mesh, *joined.transport);
        return 0;
      }
      MeasuredValidationOptions options;
      options.repeats = wanted.repeats;
      options.waiting = joining_.waiting();
      options.by_platform = options_.platform_given();
      options.choose = [&](std::span<const double> float_s, double makespan_s) {
        return wanted.trials(float_s, makespan_s);
      };
      const MeasuredValidation found = validate_here(loaded, setting, options, joined, seen);
      const analysis::Validation& validation = found.trials.validation;
      ValidationTolerance tolerance = wanted.tolerance;
      tolerance.noise_s = found.trials.noise_s;
      tolerance.unsteady_s = found.waited_s + found.clock_error_s;
      return answer({loaded,
                     setting,
                     found.on,
                     validation,
                     found.predictions,
                     tolerance,
                     wanted.choice_text(validation.trials.size(), loaded.schedule.op_count()),
                     wanted.delay_text(validation.makespan_s),
                     RealRepeats{wanted.repeats, found.trials.undelayed_s, found.trials.noise_s,
                                 found.waited_s, found.clock_error_s},
                     {},
                     machine::idle_delays(setting.delays, loaded.schedule, setting.platform)},
                    std::nullopt, seen);
    });
  }

  // `undelayed` is the run without a trial, where one stands for all.
  int answer(const ValidationReport& report, const std::optional<report::ReportedRun>& undelayed,
             Console& console) const {
    deliver_files(report, console);
    deliver_page(report, undelayed, console);
    Answer answer({json_, false}, subject_of(report.loaded));
    report.say(answer);
    console.print(answer.text());
    return report.ok() ? 0 : 1;
  }

  void deliver_files(const ValidationReport& report, Console& console) const {
    if (!csv_file_ && !plot_file_) return;
    console.phase("writing");
    std::string svg;
    if (plot_file_) svg = experiments::draw_svg(report.figure());
    if (csv_file_) write_output_file(*csv_file_, report.csv());
    if (plot_file_) write_output_file(*plot_file_, svg);
  }

  void deliver_page(const ValidationReport& validation,
                    const std::optional<report::ReportedRun>& undelayed, Console& console) const {
    if (!report_file_) return;
    report::Report page{validation.loaded.name, validation.loaded.schedule, {}, {}, {}, {}};
    if (undelayed) page.runs.push_back(*undelayed);
    if (validation.real) {
      page.samples_s = validation.real->undelayed_s;
      page.samples_of = "runs without a delay";
    }
    page.validated = validated_delays(validation);
    write_report_file(report_file_, page, console);
  }

  ScheduleSource source_;
  SimulationOptions options_{"simgrid", {"--on", "|run", false}};
  Joining joining_;
  std::optional<std::string> ops_, delay_, tolerance_, plot_file_, csv_file_, report_file_;
  std::optional<analysis::OpChoice> choose_;
  std::optional<std::uint32_t> jobs_, repeats_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_validate() { return std::make_unique<Validate>(); }

}  // namespace slackline::cli
