// --completion: what a rank of a real run does while it has nothing to do.
#pragma once

#include <optional>
#include <string>

#include "cli/arguments.h"
#include "hw/run.h"

namespace slackline::cli {

class CompletionOption {
 public:
  void declare(Arguments& arguments);
  /// Throws InputError.
  hw::Waiting waiting() const;
  bool given() const { return name_.has_value(); }

 private:
  std::optional<std::string> name_;
};

}  // namespace slackline::cli
