// `run`: a schedule carried out for real, and its bytes proved.
#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

std::unique_ptr<Command> make_run();

}  // namespace slackline::cli
