// What is said of bad input, or by whatever else is thrown.
#pragma once

#include <gtest/gtest.h>

#include <concepts>
#include <string>

#include "base/error.h"

namespace slackline::testing {

/// The text of the error that this throws, which is one line; empty if it throws none. Of any Error
/// at all: of one by which the user got something wrong.
template <class Thrown = InputError, std::invocable What>
std::string error_of(What&& what) {
  try {
    what();
  } catch (const Thrown& error) {
    if constexpr (std::same_as<Thrown, Error>) {
      EXPECT_EQ(error.exit_code(), 2) << error.what();
    }
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << "an error is one line: " << message;
    return message;
  }
  return "";
}

}  // namespace slackline::testing
