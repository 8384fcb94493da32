// Another program as a filter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slackline::base {

/// Runs `command` (looked up in PATH), gives it `input`, and returns what it writes to its standard
/// output; its standard error goes nowhere. Throws EnvironmentError, ending with `cure`, if it
/// cannot be run or does not end with 0. The program ends with the thread that calls, whatever ends
/// that.
std::string filter_through(const std::vector<std::string>& command, std::string_view input,
                           std::string_view cure);

}  // namespace slackline::base
