// Another program, and what it writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slackline::base {

/// What a program came to.
struct ProgramEnd {
  int exit_code = 0;   // 128 and the signal's number more if one ended it, as shells have it
  std::string output;  // what it wrote to its standard output
  std::string errors;  // and to its standard error
};

/// Runs `command` (looked up in PATH), and gives it `input`. Throws EnvironmentError, ending with
/// `cure`, if it cannot be run. The program ends with the thread that calls, whatever ends that.
ProgramEnd run_program(const std::vector<std::string>& command, std::string_view input,
                       std::string_view cure);

/// The same, and what it wrote to its standard output. Throws EnvironmentError, ending with `cure`,
/// also if it does not end with 0.
std::string filter_through(const std::vector<std::string>& command, std::string_view input,
                           std::string_view cure);

}  // namespace slackline::base
