// What every fuzz target holds errors to.
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace slackline::fuzz {

/// Of bad input there comes one line, and it is the user's fault.
inline void require_ours(const Error& error) {
  if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  if (error.exit_code() != 2) std::abort();
}

/// What `read` makes; nothing if it refuses.
template <class Read>
auto unless_refused(const Read& read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Error& error) {
    require_ours(error);
    return std::nullopt;
  }
}

}  // namespace slackline::fuzz
