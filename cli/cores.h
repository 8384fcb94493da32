// How much of the machine a command may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "cli/arguments.h"

namespace slackline::cli {

/// `--jobs`: how many runs at a time.
void declare_jobs(Arguments& arguments, std::optional<std::uint32_t>& jobs, std::string_view help);

/// What it says, or else the cores that this process may use.
std::uint32_t jobs_of(std::optional<std::uint32_t> jobs);

}  // namespace slackline::cli
