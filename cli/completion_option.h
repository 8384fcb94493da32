// --completion: what a rank of a real run does while it has nothing to do.
#pragma once

#include <optional>

#include "cli/arguments.h"
#include "hw/run.h"

namespace slackline::cli {

class CompletionOption {
 public:
  void declare(Arguments& arguments);
  hw::Waiting waiting() const { return waiting_.value_or(hw::Waiting::kPolling); }
  bool given() const { return waiting_.has_value(); }

 private:
  std::optional<hw::Waiting> waiting_;
};

}  // namespace slackline::cli
