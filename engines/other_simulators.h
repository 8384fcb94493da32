// Simulators of others that run a schedule on a platform's network, where they are installed. Each
// stands in a file pair of its own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/plain_machine.h"
#include "machine/setting.h"

namespace slackline::engines {

/// What a simulator is given.
struct SimulatorJob {
  struct File {
    std::string ending;  // behind the names' common beginning
    std::string contents;
  };
  std::vector<File> files;
  std::vector<std::string> command;  // that runs them
};

struct OtherSimulator {
  std::string_view name;
  std::string_view program;     // that PATH must have
  std::string_view repository;  // where it comes from
  std::string_view summary;     // one line for people
  /// In what its machine is another than any platform's, for people.
  std::string_view differs;
  HeededFigures heeds;
  /// What it is given for a setting whose delays are none, in files whose names begin with
  /// `prefix`. Throws Unsupported for what its input cannot say of schedule or platform.
  SimulatorJob (*job)(const machine::Setting& setting, const std::string& prefix);
  /// The makespan in seconds, of what it printed for the job of that setting. Nothing if that does
  /// not say it.
  std::optional<double> (*told_s)(std::string_view told, const machine::Setting& setting);
};

/// In the order in which they are listed.
std::span<const OtherSimulator> other_simulators();
/// Nothing if there is none of that name.
const OtherSimulator* find_other_simulator(std::string_view name);
/// Whether PATH has its program.
bool is_installed(const OtherSimulator& simulator);

/// In what its machine is another than the setting's, for people: what always differs, and the
/// figures of this platform that it does not go by.
std::string how_it_differs(const OtherSimulator& simulator, const machine::Setting& setting);

/// What it says of the setting's makespan, in seconds. Throws Unsupported as job() does, and for
/// delays; EnvironmentError if the program is not there, or does not say it.
double makespan_s(const OtherSimulator& simulator, const machine::Setting& setting);

}  // namespace slackline::engines
