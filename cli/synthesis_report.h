// What `advise --synthesize` found beside the named patterns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/synthesis/synthesize.h"
#include "cli/answer.h"

namespace slackline::cli {

struct SynthesisReport {
  std::string title;
  std::string digest;
  std::string start;      // what it was improved from: a pattern, or "greedy"
  bool as_named = false;  // nothing was faster than the best named pattern, and it is that
  std::uint64_t block_bytes = 0;
  double makespan_s = 0;
  double greedy_s = 0;           // the best of the greedy, before anything was improved
  double named_s = 0;            // the best named pattern, by the same engine
  std::uint32_t attempts = 0;    // schedules that were simulated
  std::uint32_t improved = 0;    // changes that were kept
  std::uint32_t sizes_left = 0;  // block sizes that make too many moves
  // Of each block size for which the fewest steps were searched.
  std::vector<analysis::SynthesizedSteps> exact = {};
  std::uint64_t exact_left = 0;  // block sizes with too many units for that
  std::optional<analysis::SynthesizedDescent> descent = {};

  /// One line for people.
  std::string verdict() const;
  /// Rows of what was done beside: by descent, and for each block size that was searched.
  void say_more(Answer& answer) const;
  /// The keys of the document; or, without a synthesis, nulls in their place.
  void say(Answer& answer) const;
  static void say_none(Answer& answer);

 private:
  double ratio() const { return named_s > 0 ? makespan_s / named_s : 1; }
};

}  // namespace slackline::cli
