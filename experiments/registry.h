// Every experiment by name.
#pragma once

#include <span>
#include <string_view>

#include "experiments/report.h"

namespace slackline::experiments {

struct Options {
  bool quick = false;  // fewer points and smaller messages: a few seconds at most
};

struct Experiment {
  std::string_view name;
  std::string_view summary;  // one line
  /// Throws slackline::Error. Same options, same report.
  Report (*run)(const Options&);
};

/// In the order of the papers' figures.
std::span<const Experiment> experiments();

/// Throws InputError, naming those there are.
const Experiment& find_experiment(std::string_view name);

}  // namespace slackline::experiments
