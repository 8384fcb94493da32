// The small files by which the system tells about itself, in /proc and /sys.
#pragma once

#include <optional>
#include <string>

namespace slackline::base {

/// Without its end; empty if there is no such file.
std::string first_line(const std::string& path);

/// The number that a file begins with; nothing if it begins otherwise, or is not there. For
/// std::uint64_t, std::int64_t, int and double.
template <class Number>
std::optional<Number> first_number(const std::string& path);

}  // namespace slackline::base
