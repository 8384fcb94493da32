// Places in a list that are used again.
#pragma once

#include <cstdint>
#include <vector>

namespace slackline::base {

/// A place of `all` that is one of `free` no more, or a new one at its end.
template <class Item>
std::uint32_t take_slot(std::vector<Item>& all, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    all.emplace_back();
    return static_cast<std::uint32_t>(all.size() - 1);
  }
  const std::uint32_t slot = free.back();
  free.pop_back();
  return slot;
}

}  // namespace slackline::base
