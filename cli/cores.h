// How much of the machine a command may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slackline::cli {

/// What `--jobs` says, or else the cores that this process may use. Throws InputError.
std::uint32_t jobs_of(const std::optional<std::string>& jobs);

}  // namespace slackline::cli
