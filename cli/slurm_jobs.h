// A sweep as jobs of Slurm: an array with a task for each share, and a merge after all of them.
#pragma once

#include <cstdint>
#include <string>

namespace slackline::cli {

struct SlurmJobs {
  std::string array, merge;  // their numbers
};

/// Writes both scripts into the folder, and submits them. Throws EnvironmentError if there is no
/// sbatch, or it takes one of them not.
SlurmJobs submit_sweep(const std::string& study, const std::string& folder, std::uint32_t shards);

}  // namespace slackline::cli
