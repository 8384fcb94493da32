// `simulate` where the analytic engine answers from a pattern's steps, without making the schedule.
#pragma once

#include <optional>

#include "analysis/engines/stream.h"
#include "cli/console.h"
#include "cli/samples_report.h"
#include "cli/simulation_options.h"
#include "cli/simulation_report.h"
#include "machine/samples.h"
#include "sched/pattern/spec.h"

namespace slackline::cli {

/// Why this spec cannot be answered so; nothing if it can.
std::optional<std::string> why_not_streamed(const sched::Spec& spec, const RunSetting& setting);

Subject subject_of(const sched::Spec& spec, std::uint64_t message_bytes);

/// What a stream found, as result_of() has it of a trace. Only of what can be streamed.
SimulationResult result_of(const RunSetting& setting, const analysis::Stream& stream);

struct StreamedSamples {
  machine::Samples samples;
  std::optional<Approximation> approximation;
};

/// With `approximate`, samples that are not exact stay so, and a few are compared, if the schedule
/// is not too large for that; otherwise they are run again. Only of what can be streamed.
StreamedSamples stream_samples(const sched::Spec& spec, const RunSetting& setting, bool approximate,
                               machine::SampleRuns runs, Console& console);

}  // namespace slackline::cli
