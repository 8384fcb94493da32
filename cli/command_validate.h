#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline validate`.
std::unique_ptr<Command> make_validate();

}  // namespace slackline::cli
