// What somebody may have meant who typed a name that does not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace slackline::sched {

/// Of `names` the one with the fewest typing errors (letters changed, added, left out) in `given`,
/// the first of several; empty above two errors, or if none of its letters would be left. Capital
/// and small letters are the same.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> names);

/// ": did you mean 'chain'?", of the nearest name. If there is none, of the names that have
/// `given`, of three letters at least, as a part: ": did you mean 'binary-tree' or 'double-tree'?".
/// Empty if nothing is near, or more than four have it.
std::string did_you_mean(std::string_view given, std::span<const std::string_view> names);

/// "unknown pattern 'chian': did you mean 'chain'?; known: a, b, c".
std::string unknown_name(std::string_view what, std::string_view given,
                         std::span<const std::string_view> names);

}  // namespace slackline::sched
