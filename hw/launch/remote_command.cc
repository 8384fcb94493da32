#include "hw/launch/remote_command.h"

#include <fmt/format.h>

#include <algorithm>

namespace slackline::hw {
namespace {

bool means_itself(char c) {
  constexpr std::string_view kOthers = "_@%+:,./-";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kOthers.find(c) != std::string_view::npos;
}

}  // namespace

std::string quoted_for_shell(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), means_itself)) {
    return std::string(word);
  }
  std::string quoted(1, '\'');
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  quoted += '\'';
  return quoted;
}

std::string remote_command(std::string_view folder, std::string_view program,
                           const std::vector<std::string>& arguments) {
  std::string command = fmt::format("cd {} 2>/dev/null; exec {}", quoted_for_shell(folder),
                                    quoted_for_shell(program));
  for (const std::string& argument : arguments) {
    command += ' ';
    command += quoted_for_shell(argument);
  }
  return command;
}

}  // namespace slackline::hw
