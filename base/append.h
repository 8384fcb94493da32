// Formatted text at the end of a string.
#pragma once

#include <fmt/core.h>

#include <string>

namespace slackline::sched {

// Appends what the format and its arguments say. In one source: whoever calls
// fmt::format_to(std::back_inserter(…)) compiles all of fmt's formatting anew.
void append_formatted(std::string& out, fmt::string_view format, fmt::format_args arguments);

// The same with arguments that are checked against the format when it is compiled.
template <class... Args>
void append(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  append_formatted(out, format, fmt::make_format_args(args...));
}

}  // namespace slackline::sched
