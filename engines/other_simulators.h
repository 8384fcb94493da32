// Simulators of others that run a schedule's GOAL program, where they are installed.
#pragma once

#include <span>
#include <string_view>

#include "machine/setting.h"

namespace slackline::engines {

struct OtherSimulator {
  std::string_view name;
  std::string_view program;  // that PATH must have
  std::string_view summary;  // one line for people
  /// In what its machine is another than a platform's, for people.
  std::string_view differs;
  /// What it says of the setting's makespan, in seconds. Throws EnvironmentError if the program is
  /// not there, or did not run to its end; Unsupported for what GOAL cannot say, for
  /// delays, and for figures of the platform that it has no place for.
  double (*makespan_s)(const machine::Setting& setting);
};

/// In the order in which they are listed.
std::span<const OtherSimulator> other_simulators();
/// Nothing if there is none of that name.
const OtherSimulator* find_other_simulator(std::string_view name);
/// Whether PATH has its program.
bool is_installed(const OtherSimulator& simulator);

}  // namespace slackline::engines
