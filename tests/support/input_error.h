// What is said of bad input.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace slackline::testing {

// The text of the InputError that this throws, which is one line; empty if it throws none.
template <class What>
std::string error_of(What&& what) {
  try {
    what();
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << "an error is one line: " << message;
    return message;
  }
  return "";
}

}  // namespace slackline::testing
