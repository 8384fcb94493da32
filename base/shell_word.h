// A text as one word of a shell's command line.
#pragma once

#include <string>
#include <string_view>

namespace slackline::base {

/// The text itself where a POSIX shell takes it as it is, and else between single quotes.
std::string shell_word(std::string_view text);

}  // namespace slackline::base
