#include "cli/real_point.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_filter.h"
#include "base/error.h"
#include "cli/own_program.h"

namespace slackline::cli {
namespace {

std::vector<std::string> command_of(const sweep::Point& point) {
  std::vector<std::string> command = {own_program(), "run",        point.schedule,
                                      "--json",      "--platform", point.platform};
  const auto add = [&](std::string_view option, std::string value) {
    command.emplace_back(option);
    command.push_back(std::move(value));
  };
  add("--iterations", std::to_string(point.samples));
  if (point.engine != "run") add("--transport", point.engine.substr(sizeof "run:" - 1));
  if (!point.delays.empty()) add("--delays", point.delays);
  if (point.seed != 0) add("--seed", std::to_string(point.seed));
  return command;
}

// The last line, which says why it ended, without the program's name.
std::string reason_of(std::string_view errors) {
  while (errors.ends_with('\n')) errors.remove_suffix(1);
  errors.remove_prefix(errors.rfind('\n') + 1);
  constexpr std::string_view kName = "slackline: ";
  if (errors.starts_with(kName)) errors.remove_prefix(kName.size());
  return std::string(errors);
}

}  // namespace

sweep::PointOutcome run_point(const sweep::Point& point) {
  try {
    const base::ProgramEnd end =
        base::run_program(command_of(point), "", "expected that this program can run itself");
    if (end.exit_code != 0) {
      const std::string reason = reason_of(end.errors);
      return {{},
              reason.empty() ? fmt::format("`slackline run` ended with {}", end.exit_code) : reason,
              end.exit_code};
    }
    return {nlohmann::json::parse(end.output).at("makespans_s").get<std::vector<double>>(), "", 0};
  } catch (const Error& error) {
    return {{}, error.what(), error.exit_code()};
  } catch (const nlohmann::json::exception& error) {
    return {{}, fmt::format("what `slackline run` said is not understood: {}", error.what()), 70};
  }
}

}  // namespace slackline::cli
