#include "cli/command_calibrate.h"

#include <fmt/format.h>

#include "cli/calibration_report.h"
#include "cli/output_file.h"
#include "machine/input_text.h"
#include "sched/error.h"

namespace slackline::cli {
namespace {

class Calibrate : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.option("--points", "FILE", points_,
                     "measured points (CSV): kind,bytes,messages,seconds");
    arguments.option("--transport", "TRANSPORT", transport_,
                     "measure here, over that transport (not in this version)");
    arguments.option("-b,--base", "PLATFORM", base_,
                     fmt::format("where figures are from that the points do not determine, as for "
                                 "simulate --platform (default: {})",
                                 machine::kDefaultPlatform));
    arguments.option("--name", "NAME", name_, "of the platform (default: measured)");
    arguments.option("-o,--output", "FILE", output_, "write the platform there (TOML)");
    arguments.option("--residuals", "FILE", residuals_,
                     "write there how well each point is met (CSV)");
    arguments.flag("--all", all_, "every outlier, not the first few");
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("--points points.csv --base fractus -o mine.toml");
  }

  int run(Console& console) override {
    if (transport_) {
      throw Unsupported(fmt::format(
          "--transport {}: measuring needs the executor, which this version does not have; "
          "expected --points with measured points",
          machine::quoted(*transport_)));
    }
    if (!points_)
      throw InputError("calibrate: no --points; expected a CSV file of measured points");
    if (residuals_ == "-") {
      throw InputError("--residuals -: standard output has the report; expected a file");
    }
    CalibrationRun run;
    run.file = *points_;
    run.base = machine::load_platform(base_.value_or(std::string(machine::kDefaultPlatform)));
    console.phase("reading");
    run.points = analysis::read_points(
        machine::read_input_file(*points_, "points", "a CSV file of measured points"), *points_);
    console.phase("fitting");
    run.found = analysis::calibrate(run.points, run.base);
    run.found.platform.name = name_.value_or("measured");
    const std::string toml = platform_file(run);
    if (residuals_) write_output_file(*residuals_, residual_csv(run));
    if (json_) {
      JsonDocument document(std::nullopt, false);
      add_calibration(run, document);
      deliver(output_, toml, "", &document, console);
    } else if (output_) {
      deliver(output_, toml,
              calibration_report(run, all_) +
                  fmt::format("  {}: the platform {}\n", *output_, run.found.platform.name),
              nullptr, console);
    } else {
      console.print(calibration_report(run, all_));
    }
    return 0;
  }

 private:
  std::string platform_file(const CalibrationRun& run) const {
    if (name_) machine::require_plain(*name_, "--name");
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
  std::optional<std::string> transport_;
  std::optional<std::string> base_;
  std::optional<std::string> name_;
  std::optional<std::string> output_;
  std::optional<std::string> residuals_;
  bool all_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_calibrate() { return std::make_unique<Calibrate>(); }

}  // namespace slackline::cli
