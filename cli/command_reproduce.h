#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline reproduce`.
std::unique_ptr<Command> make_reproduce();

}  // namespace slackline::cli
