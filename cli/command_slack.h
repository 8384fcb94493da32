#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline slack`.
std::unique_ptr<Command> make_slack();

}  // namespace slackline::cli
