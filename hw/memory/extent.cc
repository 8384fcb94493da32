#include "hw/memory/extent.h"

#include <fmt/format.h>

#include <bit>

#include "base/error.h"

namespace slackline::hw {

void require_extent(const char* who, std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes == 0) throw InputError(fmt::format("{}: 0 bytes; expected 1 or more", who));
  if (!std::has_single_bit(alignment)) {
    throw InputError(fmt::format("{}: alignment {}: expected a power of two", who, alignment));
  }
}

}  // namespace slackline::hw
