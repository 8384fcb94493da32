#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline check`.
std::unique_ptr<Command> make_check();

}  // namespace slackline::cli
