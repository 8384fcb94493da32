#include "cli/slurm_jobs.h"

#include <fmt/format.h>

#include <vector>

#include "base/child_filter.h"
#include "base/error.h"
#include "cli/output_file.h"
#include "cli/own_program.h"
#include "hw/launch/remote_command.h"

namespace slackline::cli {
namespace {

// The number of the job; with several clusters, `;` and a cluster's name follow it.
std::string submitted(const std::string& script, std::vector<std::string> options) {
  std::vector<std::string> command = {"sbatch", "--parsable"};
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(script);
  const std::string said = base::filter_through(
      command, "", "expected Slurm's sbatch (Debian: slurm-client), and a cluster that takes jobs");
  return said.substr(0, said.find_first_of(";\n"));
}

}  // namespace

SlurmJobs submit_sweep(const std::string& study, const std::string& folder, std::uint32_t shards) {
  const std::string program = own_program();
  if (program.empty()) {
    throw EnvironmentError("this program's path cannot be told; expected /proc");
  }
  const auto script = [&](const char* name, const std::string& options) {
    const std::string path = fmt::format("{}/{}.sh", folder, name);
    write_output_file(path, fmt::format("#!/bin/sh\nexec {} sweep {} --output {} {}\n",
                                        hw::quoted_for_shell(program), hw::quoted_for_shell(study),
                                        hw::quoted_for_shell(folder), options));
    return path;
  };
  const std::string share = script("share", "--shard auto --jobs \"${SLURM_CPUS_PER_TASK:-1}\"");
  const std::string merge = script("merge", "--merge");
  SlurmJobs jobs;
  jobs.array = submitted(share, {fmt::format("--array=0-{}", shards - 1),
                                 fmt::format("--output={}/share-%a.txt", folder)});
  jobs.merge = submitted(
      merge, {"--dependency=afterok:" + jobs.array, fmt::format("--output={}/merge.txt", folder)});
  return jobs;
}

}  // namespace slackline::cli
