// Bytes written to a descriptor, however many pieces that takes.
#pragma once

#include <string_view>

namespace slackline::base {

/// Writes all of `bytes`; signals in between do no harm. 0, or the error number.
int write_all(int fd, std::string_view bytes) noexcept;

}  // namespace slackline::base
