// What a command is.
#pragma once

#include "cli/arguments.h"
#include "cli/console.h"

namespace slackline::cli {

class Command {
 public:
  virtual ~Command() = default;
  /// Says which arguments it takes, and where their values go.
  virtual void declare(Arguments& arguments) = 0;
  /// Does it, and returns the exit code: 0, or 1 if the answer is no. Throws slackline::Error.
  virtual int run(Console& console) = 0;
};

}  // namespace slackline::cli
