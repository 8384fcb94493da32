#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

/// `slackline list`.
std::unique_ptr<Command> make_list();

}  // namespace slackline::cli
