// A share of something, as options take it.
#pragma once

#include <string_view>

namespace slackline::cli {

/// "5%" or "0.05", at least 0. Throws InputError, naming the option and what it is a share of.
double parse_share(std::string_view text, std::string_view option, std::string_view of);

}  // namespace slackline::cli
