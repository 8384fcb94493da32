#include "cli/frozen_run.h"

#include <fmt/format.h>

namespace slackline::cli {

void add_no_promise(Answer& answer, std::string_view what, const std::optional<std::string>& why,
                    std::string_view instead) {
  answer.set("of_frozen_run_only", why.has_value());
  answer.set("of_frozen_run_only_because", why);
  if (!why) return;
  answer.opening(
      fmt::format("  {} of this run with its order and rates frozen, and no promise: {}{}{}\n",
                  what, *why, instead.empty() ? "" : "; ", instead));
}

}  // namespace slackline::cli
