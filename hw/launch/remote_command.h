// A command line for another host's shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace slackline::hw {

/// The word as a POSIX shell reads it back, byte for byte, whatever stands in it; it must have no
/// zero byte.
std::string quoted_for_shell(std::string_view word);

/// Goes to `folder`, where that is there too, and becomes the program with these arguments.
std::string remote_command(std::string_view folder, std::string_view program,
                           const std::vector<std::string>& arguments);

}  // namespace slackline::hw
