// What peers may have run here.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/call/function.h"

namespace slackline::hw {

class CallFunctions {
 public:
  explicit CallFunctions(CallableObject object);

  const char* anchor() const { return anchor_; }
  /// The function that a peer names by its offset; null if it is none of those that may be called.
  Invoker at(std::uint32_t offset) const;

 private:
  const char* anchor_;
  std::vector<std::uint32_t> offsets_;  // ascending
};

}  // namespace slackline::hw
