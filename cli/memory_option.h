// --memory: how much memory a command may take.
#pragma once

#include <optional>
#include <string>

#include "base/memory_limit.h"
#include "cli/arguments.h"

namespace slackline::cli {

class MemoryOption {
 public:
  void declare(Arguments& arguments);
  /// What it says, or what the machine has. Throws InputError.
  sched::MemoryLimit limit() const;
  /// As was given.
  const std::optional<std::string>& given() const { return size_; }

 private:
  std::optional<std::string> size_;
};

}  // namespace slackline::cli
