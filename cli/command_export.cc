#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "base/named.h"
#include "base/shell_word.h"
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "cli/schedule_source.h"
#include "engines/network.h"
#include "engines/other_simulators.h"
#include "machine/platform.h"
#include "sched/export/exporter.h"

namespace slackline::cli {
namespace {

// Bytes of an operation: as much as the larger of the formats that are written, chakra.
constexpr std::uint64_t kMemoryOfJob = 700;

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names = base::names_of(sched::exporters());
  for (const engines::OtherSimulator& other : engines::other_simulators()) {
    names.push_back(other.name);
  }
  return names;
}

class Export : public Command {
 public:
  void declare(Arguments& arguments) override {
    source_.declare(arguments);
    source_.declare_proof(arguments, Proof::kOnDemand);
    arguments.option("-t,--to", "FORMAT", format_,
                     fmt::format("one of {}", fmt::join(format_names(), ", ")));
    arguments.number("--rails", "N", rails_,
                     "of goal: hosts of N NICs, of which a channel takes one (rail=channel)", 1,
                     256);
    arguments.output("-o,--output", output_,
                     "where it goes (default: standard output); of several files, their PREFIX");
    arguments.option("-p,--platform", "PLATFORM", platform_,
                     fmt::format("with --to {}: of whose network the simulator is told "
                                 "(default: {})",
                                 simulators(), machine::kDefaultPlatform));
    arguments.flag("--json", json_, "print one JSON document");
    arguments.example("chain:ranks=4,bytes=4MiB --to dot -o chain.dot");
  }

  int run(Console& console) override {
    if (!format_) {
      throw InputError(
          fmt::format("export: no --to; expected one of {}", fmt::join(format_names(), ", ")));
    }
    if (const auto* other = engines::find_other_simulator(*format_)) {
      return write_job(*other, console);
    }
    const sched::ExporterEntry* exporter = sched::find_exporter(*format_);
    if (exporter == nullptr) {
      throw InputError("--to: " + sched::unknown_name("format", *format_, format_names()));
    }
    if (platform_) {
      throw InputError(fmt::format("--platform: {} is of a schedule alone; expected one of {}",
                                   *format_, simulators()));
    }
    if (exporter->binary && json_ && is_standard_output(output_)) {
      throw InputError(
          fmt::format("--json: {} is no text; expected a file, --output", exporter->name));
    }
    if (exporter->write_ranks != nullptr && is_standard_output(output_)) {
      throw InputError(
          fmt::format("--to: {} is a file of each rank; expected the beginning of their names, "
                      "--output PREFIX",
                      exporter->name));
    }
    if (rails_ && exporter->write_on_nics == nullptr) {
      throw InputError(fmt::format("--rails: {} says nothing of NICs; expected goal or goal-bin",
                                   exporter->name));
    }
    source_.takes(exporter->memory_of_op);
    const LoadedSchedule loaded = source_.load_proved(console);
    console.phase("writing");
    if (exporter->write_ranks != nullptr) {
      write_ranks(*exporter, loaded, console);
      return 0;
    }
    const std::string contents = rails_ ? exporter->write_on_nics(loaded.schedule, *rails_)
                                        : exporter->write(loaded.schedule);
    deliver_as(exporter->name, output_, contents, subject_of(loaded), json_, console);
    return 0;
  }

 private:
  static std::string simulators() {
    return fmt::format("{}", fmt::join(base::names_of(engines::other_simulators()), ", "));
  }

  // What another simulator needs, and the command that runs it.
  int write_job(const engines::OtherSimulator& other, Console& console) {
    if (is_standard_output(output_)) {
      throw InputError(
          fmt::format("--to: {} is several files; expected the beginning of their names, "
                      "--output PREFIX",
                      other.name));
    }
    if (rails_) {
      throw InputError(fmt::format(
          "--rails: of {} the platform says how many NICs there are; expected --platform",
          other.name));
    }
    const machine::Platform platform =
        machine::load_platform(platform_ ? *platform_ : std::string(machine::kDefaultPlatform));
    source_.require_rails(platform.node.rails);
    source_.takes(kMemoryOfJob);
    const LoadedSchedule loaded = source_.load_proved(console);
    console.phase("writing");
    const machine::Setting setting(loaded.schedule, platform,
                                   engines::wiring_of(platform, loaded.schedule));
    const engines::SimulatorJob job = other.job(setting, *output_);
    std::size_t bytes = 0;
    for (const engines::SimulatorJob::File& file : job.files) {
      write_output_file(*output_ + file.ending, file.contents);
      bytes += file.contents.size();
    }
    std::string command;
    for (const std::string& word : job.command) {
      if (!command.empty()) command += ' ';
      command += base::shell_word(word);
    }
    say_written(other.name, *output_, job.files.size(), bytes, subject_of(loaded), json_, console,
                command, how_it_differs(other, setting));
    return 0;
  }

  void write_ranks(const sched::ExporterEntry& exporter, const LoadedSchedule& loaded,
                   Console& console) const {
    const std::vector<std::string> contents = exporter.write_ranks(loaded.schedule);
    std::size_t bytes = 0;
    for (std::size_t r = 0; r < contents.size(); ++r) {
      write_output_file(fmt::format("{}.{}{}", *output_, r, exporter.ending), contents[r]);
      bytes += contents[r].size();
    }
    say_written(exporter.name, *output_, contents.size(), bytes, subject_of(loaded), json_,
                console);
  }

  ScheduleSource source_;
  std::optional<std::string> format_;
  std::optional<std::string> platform_;
  std::optional<std::string> output_;
  std::optional<std::uint32_t> rails_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_export() { return std::make_unique<Export>(); }

}  // namespace slackline::cli
