// This program, for what starts it again.
#pragma once

#include <string>

namespace slackline::cli {

/// The path of its file; nothing if that cannot be told.
std::string own_program();

/// The current folder; "." if that cannot be told.
std::string own_folder();

}  // namespace slackline::cli
