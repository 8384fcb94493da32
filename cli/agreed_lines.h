// What all ranks of a real run must have been given alike, besides the schedule: what they do, and
// what rank 0 says of all of them.
#pragma once

#include <string>
#include <vector>

#include "hw/run.h"

namespace slackline::cli {

/// In words, for hw::MeshOptions::agreed.
std::vector<std::string> agreed_lines(const hw::RunOptions& options);

}  // namespace slackline::cli
