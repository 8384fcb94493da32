// What is said of bad input.
#pragma once

#include <string>

#include "sched/error.h"

namespace slackline::testing {

// The text of the InputError that this throws; empty if it throws none.
template <class What>
std::string error_of(What&& what) {
  try {
    what();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace slackline::testing
