// Bytes as text: base 64 of RFC 4648, section 4.
#pragma once

#include <string>
#include <string_view>

namespace slackline::report {

/// Padded, without line breaks.
std::string base64(std::string_view bytes);

}  // namespace slackline::report
