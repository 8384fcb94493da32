// How far a test goes where the environment asks for more.
#pragma once

#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace slackline::testing {

/// The number that the variable of the environment has, or `usual` if there is none. Fails the test
/// for what is no whole number above 0: a test of nothing would pass.
inline std::uint32_t asked_count(const char* variable, std::uint32_t usual) {
  const char* const asked = std::getenv(variable);
  if (asked == nullptr) return usual;
  const std::string_view text = asked;
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size() && count > 0) return count;
  ADD_FAILURE() << variable << ": '" << text << "'; expected a whole number above 0";
  return usual;
}

}  // namespace slackline::testing
