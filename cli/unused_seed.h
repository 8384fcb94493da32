// A seed that changes nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/console.h"

namespace slackline::cli {

/// Notes that a seed that was given changes nothing, if the run draws nothing
/// (machine/randomness.h).
void note_unused_seed(const std::optional<std::uint64_t>& given, bool draws, Console& console);

}  // namespace slackline::cli
