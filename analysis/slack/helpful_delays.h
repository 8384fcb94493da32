// Delays that make a run end earlier: on links that messages share it can be worth while to wait.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "machine/setting.h"

namespace slackline::analysis {

/// What is run, and how.
struct DelaySearch {
  machine::Setting setting;  // with what is delayed anyway

  std::uint32_t jobs = 1;
  /// Told now and then what goes on, and how much of it is done. May be empty.
  std::function<void(std::string_view what, std::uint64_t done, std::uint64_t of)> progress;
};

/// One more delay, and when the run ends with it and all before it.
struct HelpfulDelay {
  machine::OpDelay delay;
  double makespan_s = 0;
};

struct HelpfulDelays {
  double makespan_s = 0;               // with none of them
  std::vector<HelpfulDelay> singles;   // what helps most at each operation alone, best first
  std::vector<HelpfulDelay> together;  // each on top of those before; empty if none helps
  std::uint64_t runs = 0;              // that were made
};

/// Looks where a small delay helps (delay_slopes()) and where one of 1 % of the makespan does. It
/// tries the best of these operations with delays of several sizes, and then adds the best delay,
/// and the best beside it, up to `most`, as long as each makes the run shorter. So what it finds is
/// real, but not the best that there is. The same whatever the jobs. Throws what
/// DelayedRuns does.
HelpfulDelays helpful_delays(const DelaySearch& search, std::uint32_t most = 4);

}  // namespace slackline::analysis
