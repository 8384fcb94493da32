#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline simulate`.
std::unique_ptr<Command> make_simulate();

}  // namespace slackline::cli
