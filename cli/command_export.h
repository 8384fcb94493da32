#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline export`.
std::unique_ptr<Command> make_export();

}  // namespace slackline::cli
