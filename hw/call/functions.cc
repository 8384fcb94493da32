#include "hw/call/functions.h"

#include <algorithm>
#include <utility>

#include "hw/call/record.h"

namespace slackline::hw {

CallFunctions::CallFunctions(CallableObject object)
    : anchor_(object.anchor), functions_(std::move(object.functions)) {
  std::ranges::sort(functions_, {}, &CallableFunction::offset);
}

Invoker CallFunctions::at(std::uint32_t offset, std::size_t captures) const {
  const auto found = std::ranges::lower_bound(functions_, offset, {}, &CallableFunction::offset);
  if (found == functions_.end() || found->offset != offset) return nullptr;
  if (captures != round_to_words(found->captures)) return nullptr;
  return reinterpret_cast<Invoker>(const_cast<char*>(anchor_) + offset);
}

}  // namespace slackline::hw
