// Compression that a browser can undo by itself.
#pragma once

#include <string>
#include <string_view>

namespace slackline::report {

/// The zlib format (RFC 1950), which browsers call "deflate". The same bytes give the same bytes.
std::string deflated(std::string_view bytes);

}  // namespace slackline::report
