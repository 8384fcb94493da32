#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline compare`.
std::unique_ptr<Command> make_compare();

}  // namespace slackline::cli
