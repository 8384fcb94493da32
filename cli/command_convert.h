#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline convert`.
std::unique_ptr<Command> make_convert();

}  // namespace slackline::cli
