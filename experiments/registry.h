// Every experiment by name.
#pragma once

#include <span>
#include <string_view>

#include "experiments/experiment.h"

namespace slackline::experiments {

/// In the order of the papers' figures.
std::span<const Experiment> experiments();

/// Throws InputError, naming those there are.
const Experiment& find_experiment(std::string_view name);

}  // namespace slackline::experiments
