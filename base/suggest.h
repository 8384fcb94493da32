// What somebody may have meant who typed a name that does not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace slackline::sched {

/// Of `names` the one with the fewest typing errors (letters changed, added, left out) in `given`,
/// the first of several; empty above two errors, or if none of its letters would be left.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> names);

/// "unknown pattern 'chian': did you mean 'chain'?; known: a, b, c".
std::string unknown_name(std::string_view what, std::string_view given,
                         std::span<const std::string_view> names);

}  // namespace slackline::sched
