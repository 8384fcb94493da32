// What an experiment is.
#pragma once

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
  ExperimentReport (*run)(const Options&);
};

}  // namespace slackline::experiments
