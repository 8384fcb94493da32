// Tables whose entries are counted in 32 bits.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string_view>

#include "base/error.h"

namespace slackline::analysis {

/// Throws Unsupported, naming `what` ("constraints"), where a schedule would make 2^32 − 1 or more.
inline void require_indexable(std::uint64_t entries, std::string_view what) {
  if (entries < std::numeric_limits<std::uint32_t>::max()) return;
  throw Unsupported(fmt::format(
      "slack takes schedules with fewer than 2^32 - 1 {} only; here they are {}", what, entries));
}

}  // namespace slackline::analysis
