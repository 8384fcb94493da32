// What `simulate --samples` says of many runs, as a table and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/simulation_options.h"
#include "machine/delays.h"
#include "machine/samples.h"

namespace slackline::cli {

/// Where a sample of times lies. The median is the middle one, or the mean of the middle two; other
/// quantiles are the sample at ⌈q·n⌉ in order.
struct Spread {
  double mean_s = 0;
  double deviation_s = 0;  // standard, of the sample
  double min_s = 0;
  double p5_s = 0;
  double median_s = 0;
  double p95_s = 0;
  double p99_s = 0;
  double max_s = 0;
};
Spread spread_of(std::vector<double> times_s);

/// Samples that are near and not exact.
struct Approximation {
  std::uint32_t inexact = 0;
  std::uint32_t compared = 0;   // of those: run exactly, too
  double worst_difference = 0;  // of their makespans, relative
};

/// What a reader must know of how the samples came about.
struct SamplesContext {
  std::optional<Approximation> approximation;
  /// A link that messages may have shared, if the engine leaves sharing out.
  std::optional<std::string> link_left_out;
  /// Of the plan's delays, but for noise, those that change no sample.
  std::vector<machine::IdleEntry> without_effect = {};
};

/// The answer's subject is what was run.
void answer_samples(Answer& answer, const RunSetting& setting, const machine::Samples& samples,
                    const SamplesContext& context);

}  // namespace slackline::cli
