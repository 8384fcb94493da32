#include "engines/other_simulators.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "base/child_filter.h"
#include "base/error.h"
#include "base/named.h"
#include "base/split.h"
#include "base/write_file.h"
#include "engines/astra_sim.h"
#include "engines/htsim.h"
#include "engines/loggopsim.h"

namespace slackline::engines {
namespace {

// A folder that goes with its object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "slackline-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw EnvironmentError(fmt::format("no folder can be made in {}; set TMPDIR to another place",
                                         std::filesystem::temp_directory_path().string()));
    }
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// A new simulator is one line here.
constexpr OtherSimulator kSimulators[] = {kLogGopsim, kHtsim, kAstraSim};

}  // namespace

std::span<const OtherSimulator> other_simulators() { return kSimulators; }

const OtherSimulator* find_other_simulator(std::string_view name) {
  return base::find_named(other_simulators(), name);
}

bool is_installed(const OtherSimulator& simulator) {
  const char* const folders = getenv("PATH");
  for (const std::string_view folder : base::split(folders == nullptr ? "" : folders, ':')) {
    const std::string file = fmt::format("{}/{}", folder, simulator.program);
    if (access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::string how_it_differs(const OtherSimulator& simulator, const machine::Setting& setting) {
  const std::string unheeded = unheeded_figures(setting, simulator.heeds);
  return fmt::format("{}{}{}", simulator.differs, unheeded.empty() ? "" : "; without ", unheeded);
}

double makespan_s(const OtherSimulator& simulator, const machine::Setting& setting) {
  if (setting.delays != machine::DelayPlan{}) {
    throw Unsupported(fmt::format("{}: a delay plan; expected none, as its messages have no delays",
                                  simulator.name));
  }
  const Folder folder;
  const std::string prefix = folder.path("program");
  const SimulatorJob job = simulator.job(setting, prefix);
  for (const SimulatorJob::File& file : job.files) {
    sched::write_file(prefix + file.ending, file.contents);
  }
  const std::string cure = fmt::format("put {} ({}) into a folder of PATH, or leave {} out",
                                       simulator.program, simulator.repository, simulator.name);
  const std::string told = base::filter_through(job.command, "", cure);
  const std::optional<double> makespan_s = simulator.told_s(told, setting);
  if (!makespan_s) {
    throw EnvironmentError(
        fmt::format("{} did not say when its hosts finished; {}", simulator.program, cure));
  }
  return *makespan_s;
}

}  // namespace slackline::engines
