#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline advise`.
std::unique_ptr<Command> make_advise();

}  // namespace slackline::cli
