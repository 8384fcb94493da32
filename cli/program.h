// The program, from its arguments to its exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/console.h"

namespace slackline::cli {

/// Runs `slackline ARGUMENTS…`. Ends with 0 (done), 1 (the answer is no), 2 (bad input), 3 (this
/// machine lacks something) or 70 (our own defect). An error is one line on standard error, and
/// nothing on standard output.
int run_program(const std::vector<std::string>& arguments);

/// Carries out one command line within another one. Returns the exit code; throws slackline::Error.
int run_command(const std::vector<std::string>& arguments, Console& console);

/// How something ended: its exit code, and the error's line if there was one.
struct Ending {
  int code = 0;
  std::string error;
};

/// Runs `body`, which returns an exit code, and finishes the console; what it throws becomes one
/// line and the exit code that goes with it.
Ending run_caught(const std::function<int()>& body, Console& console);

/// The same; the line goes to standard error.
int run_guarded(const std::function<int()>& body, Console& console);

}  // namespace slackline::cli
