// A number that is the whole of a text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace slackline::base {

/// Nothing if `text` is no number, has more than a number, or a number that does not fit. Blanks
/// and a plus sign are no part of numbers.
template <class Number>
std::optional<Number> whole_number(std::string_view text, int radix = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<Number>) {
    read = std::from_chars(text.data(), end, number);
  } else {
    read = std::from_chars(text.data(), end, number, radix);
  }
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

}  // namespace slackline::base
