#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline calibrate`.
std::unique_ptr<Command> make_calibrate();

}  // namespace slackline::cli
