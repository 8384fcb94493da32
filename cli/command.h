// What a command is, and the list of them.
#pragma once

#include <memory>
#include <span>
#include <string_view>

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

struct CommandEntry {
  std::string_view name;
  std::string_view summary;  // one line
  std::unique_ptr<Command> (*make)();
};

/// Every command, in the order in which `--help` shows them.
std::span<const CommandEntry> commands();

}  // namespace slackline::cli
