// The names of an enumeration's values, which count from 0.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace slackline::base {

/// One name for each value, in their order: `EnumNames<Colour, 2> kColours = {"red", "blue"}`.
template <class Enum, std::size_t count>
struct EnumNames {
  std::array<std::string_view, count> names;

  constexpr std::string_view operator[](Enum value) const {
    return names[static_cast<std::size_t>(value)];
  }
  /// The value of that name; nothing if none has it.
  constexpr std::optional<Enum> find(std::string_view name) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (names[i] == name) return static_cast<Enum>(i);
    }
    return std::nullopt;
  }
};

}  // namespace slackline::base
