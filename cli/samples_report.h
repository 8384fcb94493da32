// What `simulate --samples` says of many runs, as a table and as JSON.
#pragma once

#include <string>

#include "cli/run_options.h"
#include "cli/schedule_source.h"
#include "machine/samples.h"

namespace slackline::cli {

/// Where a sample of times lies. Quantiles are the sample at ⌈q·n⌉ in order.
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

std::string samples_report(const LoadedSchedule& loaded, const RunSetting& setting,
                           const machine::Samples& samples, bool all);
std::string samples_document(const LoadedSchedule& loaded, const RunSetting& setting,
                             const machine::Samples& samples);

}  // namespace slackline::cli
