// Whether a platform's figures go together.
#pragma once

#include <string_view>

#include "machine/platform.h"

namespace slackline::machine {

/// Throws InputError, naming `what`, if the topology's figures make no network, the node's no
/// machine, or figures contradict each other; Unsupported for figures that nothing carries out
/// together.
void check_platform(const Platform& platform, std::string_view what);

}  // namespace slackline::machine
