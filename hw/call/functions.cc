#include "hw/call/functions.h"

#include <algorithm>
#include <utility>

namespace slackline::hw {

CallFunctions::CallFunctions(CallableObject object)
    : anchor_(object.anchor), offsets_(std::move(object.functions)) {
  std::sort(offsets_.begin(), offsets_.end());
}

Invoker CallFunctions::at(std::uint32_t offset) const {
  if (!std::binary_search(offsets_.begin(), offsets_.end(), offset)) return nullptr;
  return reinterpret_cast<Invoker>(const_cast<char*>(anchor_) + offset);
}

}  // namespace slackline::hw
