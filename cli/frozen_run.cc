#include "cli/frozen_run.h"

#include <fmt/format.h>

#include "analysis/slack/may_share.h"
#include "machine/paths.h"

namespace slackline::cli {

std::optional<std::string> shared_link_name(const machine::Setting& setting) {
  const auto link = analysis::link_that_may_be_shared(setting, machine::Paths(setting));
  if (!link) return std::nullopt;
  return setting.wiring.links()[link->value].name;
}

std::optional<std::string> why_no_promise(const machine::Setting& setting) {
  const auto link = shared_link_name(setting);
  if (!link) return std::nullopt;
  return fmt::format("messages may share links ({} is one), and a delay changes who shares when",
                     *link);
}

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
