#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline compile`.
std::unique_ptr<Command> make_compile();

}  // namespace slackline::cli
