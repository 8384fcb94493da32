#include "cli/completion_option.h"

namespace slackline::cli {

void CompletionOption::declare(Arguments& arguments) {
  arguments.choice("--completion", "polling|interrupt|hybrid", waiting_,
                   "wait by polling (default), asleep, or polling for 50 ms first",
                   hw::waiting_named);
}

}  // namespace slackline::cli
