#include "machine/group/small_shape.h"

#include <fmt/format.h>

#include "base/error.h"

namespace slackline::machine {

void check(const SmallShape& shape) {
  if (shape.bytes > kMostSmallBytes) {
    throw InputError(fmt::format("small_bytes: {} is out of range; expected 0 to {}", shape.bytes,
                                 kMostSmallBytes));
  }
  if (shape.slots == 0 || shape.slots > kMostSmallSlots) {
    throw InputError(fmt::format("small_slots: {} is out of range; expected 1 to {}", shape.slots,
                                 kMostSmallSlots));
  }
}

}  // namespace slackline::machine
