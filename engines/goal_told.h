// What simulators of GOAL programs print.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace slackline::engines {

/// Of "Maximum finishing time at host 3: 1050061 (0.00105006 s)", the whole number, in units of the
/// program. Nothing if there is no such line.
std::optional<std::uint64_t> goal_finish(std::string_view told);

}  // namespace slackline::engines
