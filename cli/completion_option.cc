#include "cli/completion_option.h"

#include <fmt/format.h>

#include "base/error.h"

namespace slackline::cli {

void CompletionOption::declare(Arguments& arguments) {
  arguments.option("--completion", "polling|interrupt|hybrid", name_,
                   "wait by polling (default), asleep, or polling for 50 ms first");
}

hw::Waiting CompletionOption::waiting() const {
  if (!name_) return hw::Waiting::kPolling;
  if (const auto waiting = hw::waiting_named(*name_)) return *waiting;
  throw InputError(
      fmt::format("--completion: '{}'; expected polling, interrupt or hybrid", *name_));
}

}  // namespace slackline::cli
