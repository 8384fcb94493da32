// What a report is about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/schedule_source.h"

namespace slackline::cli {

struct Subject {
  std::string name;  // for people: the canonical spec, or the file as it was given
  /// Nothing where the answer was found without making the schedule.
  std::optional<std::string> digest;
  bool proved = false;
  std::uint64_t message_bytes = 0;
};

inline Subject subject_of(const LoadedSchedule& loaded) {
  return {loaded.name, to_string(loaded.schedule.digest()), loaded.proved,
          loaded.schedule.message_bytes()};
}

}  // namespace slackline::cli
