#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline offload`.
std::unique_ptr<Command> make_offload();

}  // namespace slackline::cli
