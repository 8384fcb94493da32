// A platform as the file that platform_from_toml() reads.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "machine/platform.h"

namespace slackline::machine {

/// Every figure, with its name and `summary` (one line). `source_of`: where a figure is from, by
/// its key in an inline spec (the topology itself is "topology"); it stands as a comment above the
/// figure. Empty: none.
std::string platform_to_toml(const Platform& platform, std::string_view summary,
                             const std::function<std::string(std::string_view key)>& source_of);

}  // namespace slackline::machine
