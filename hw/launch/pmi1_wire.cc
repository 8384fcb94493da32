#include "hw/launch/pmi1_wire.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/number.h"

namespace slackline::hw {

std::string pmi1_command(
    std::string_view name,
    std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string line = fmt::format("cmd={}", name);
  for (const auto& [key, value] : values) line += fmt::format(" {}={}", key, value);
  return line + "\n";
}

Pmi1Answer::Pmi1Answer(std::string line, std::string_view asked, std::string_view expected)
    : line_(std::move(line)), asked_(asked) {
  const auto is_odd = [](char c) { return (c < ' ' && c != '\t') || c == '\x7f'; };
  if (line_.size() > kMostPmi1Line) refuse("it is too long");
  if (std::any_of(line_.begin(), line_.end(), is_odd)) refuse("it has control characters");
  if (find("cmd") != expected) refuse(fmt::format("it is no {}", expected));
  // Not all launchers say how it went where nothing can go wrong.
  const std::string_view rc = find("rc");
  if (rc.empty() || rc == "0") return;
  const auto number = base::whole_number<std::int64_t>(rc);
  if (!number) refuse("its rc is no number");
  refuse(fmt::format("its rc is {}", *number));
}

std::string_view Pmi1Answer::value(std::string_view key) const {
  const std::string_view found = find(key);
  if (found.empty()) refuse(fmt::format("it has no {}", key));
  return found;
}

std::uint32_t Pmi1Answer::number(std::string_view key) const {
  const auto number = base::whole_number<std::uint32_t>(value(key));
  if (!number) refuse(fmt::format("its {} is no number", key));
  return *number;
}

void Pmi1Answer::refuse(std::string_view why) const {
  throw EnvironmentError(
      fmt::format("the launcher's answer to \"{}\" is none of PMI-1: {}; give --rank, --ranks and "
                  "--root, or use another launcher",
                  asked_, why));
}

std::string_view Pmi1Answer::find(std::string_view key) const {
  constexpr std::string_view kBetween = " \t\r";
  std::string_view found;
  std::string_view rest = line_;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(kBetween), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || word.substr(0, equals) != key) continue;
    if (found.data() != nullptr) refuse(fmt::format("it has {} twice", key));
    found = word.substr(equals + 1);
  }
  return found;
}

}  // namespace slackline::hw
