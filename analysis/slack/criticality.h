// How often each operation decides when a noisy run ends.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/engine.h"
#include "machine/samples.h"

namespace slackline::analysis {

struct Criticality {
  std::vector<std::uint32_t> of_op;    // samples with the operation on their critical path
  std::vector<std::uint32_t> of_rank;  // … with any operation of the rank
  std::vector<double> makespan_s;      // of every sample
};

/// Over `runs.samples` runs, `runs.jobs` threads at a time, which changes no bit; sample i draws
/// with the seed of the setting's delays and i more. Of an engine that shares links, each message
/// keeps the time on the wire that it had. Throws InputError on a run that a failure kept from its
/// end, and what the engine throws; of several, the first sample's.
Criticality criticality(const machine::Setting& setting, const machine::Engine& engine,
                        const machine::SampleRuns& runs);

}  // namespace slackline::analysis
