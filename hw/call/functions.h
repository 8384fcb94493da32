// What peers may have run here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hw/call/function.h"

namespace slackline::hw {

class CallFunctions {
 public:
  explicit CallFunctions(CallableObject object);

  const char* anchor() const { return anchor_; }
  /// The function that a peer names by its offset, and gives captures of so many bytes, in whole
  /// words; null if it is none of those that may be called, or captures more or less.
  Invoker at(std::uint32_t offset, std::size_t captures) const;

 private:
  const char* anchor_;
  std::vector<CallableFunction> functions_;  // by offset
};

}  // namespace slackline::hw
