// A platform with the figures that were measured.
#pragma once

#include <span>

#include "analysis/fit/calibrate.h"
#include "machine/platform.h"

namespace slackline::analysis {

/// Puts those that count as measured in the place of the platform's.
void set_measured(machine::Platform& platform, std::span<const FigureFit> figures);

}  // namespace slackline::analysis
