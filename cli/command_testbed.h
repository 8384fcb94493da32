// `testbed`: a platform's network built on this machine, and a real run carried out on it.
#pragma once

#include <memory>

#include "cli/command.h"

namespace slackline::cli {

std::unique_ptr<Command> make_testbed();

}  // namespace slackline::cli
