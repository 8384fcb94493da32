// The options that say what goes wrong in a run, shared by what simulates one and what carries one
// out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "machine/delay_plan.h"

namespace slackline::cli {

/// Which of them a command has.
struct DelayOptionNames {
  bool delay = true;  // --delay; --delays can say the same
  bool network =
      true;  // what happens to links and hosts, which only a simulated network can be told
};

class DelayOptions {
 public:
  explicit DelayOptions(DelayOptionNames names = {}) : names_(names) {}

  void declare(Arguments& arguments);
  /// Reads them, with the seed. Throws InputError.
  machine::DelayPlan resolve() const;
  /// The seed, if --seed was given.
  std::optional<std::uint64_t> seed() const { return seed_; }
  /// The first of these options that was given, as in "--delays"; empty if none was.
  std::string_view given() const;

 private:
  DelayOptionNames names_;
  std::optional<std::string> file_;
  std::optional<std::uint64_t> seed_;
  std::vector<std::string> delays_, slow_pairs_, stragglers_, noise_, link_rates_, failures_;
};

}  // namespace slackline::cli
