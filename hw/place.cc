#include "hw/place.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/number.h"

namespace slackline::hw {
namespace {

std::optional<std::uint32_t> number(const Environment& environment, const std::string& name) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  const auto value = base::whole_number<std::uint32_t>(*text);
  if (!value) {
    throw InputError(
        fmt::format("the environment's {} is \"{}\"; expected a whole number", name, *text));
  }
  return value;
}

// Both, or nothing.
std::optional<LaunchPlace> place(Launcher launcher, const Environment& environment,
                                 const std::string& rank_name, const std::string& ranks_name) {
  const auto rank = number(environment, rank_name);
  const auto ranks = number(environment, ranks_name);
  if (!rank && !ranks) return std::nullopt;
  if (!rank || !ranks) {
    throw InputError(fmt::format("the environment has {} and not {}; expected both or neither",
                                 rank ? rank_name : ranks_name, rank ? ranks_name : rank_name));
  }
  if (*rank >= *ranks) {
    throw InputError(
        fmt::format("the environment has {}={} and {}={}; expected a rank below their "
                    "number",
                    rank_name, *rank, ranks_name, *ranks));
  }
  LaunchPlace found;
  found.rank = *rank;
  found.ranks = *ranks;
  found.launcher = launcher;
  return found;
}

// Below the ports that kernels give away.
std::string at_port_of(std::string_view host, std::string_view job) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{}:{}", host, 20'000 + hash % 10'000);
}

constexpr std::string_view kLoopback = "127.0.0.1";

void set_no_root(LaunchPlace& place, std::string_view launcher) {
  place.why_no_root = fmt::format(
      "{} does not say where rank 0 runs; expected --root HOST:PORT, its host and a free "
      "port there",
      launcher);
}

std::optional<LaunchPlace> from_open_mpi(const Environment& environment) {
  auto found =
      place(Launcher::kOpenMpi, environment, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (!found) return found;
  found->one_host = number(environment, "OMPI_COMM_WORLD_LOCAL_SIZE") == found->ranks;
  auto job = environment("PMIX_NAMESPACE");
  if (!job) job = environment("OMPI_MCA_ess_base_jobid");
  if (job && found->one_host) {
    found->root = at_port_of(kLoopback, "mpirun " + *job);
  } else {
    set_no_root(*found, "mpirun");
  }
  return found;
}

std::optional<LaunchPlace> from_slurm(const Environment& environment) {
  if (!environment("SLURM_STEP_ID")) return std::nullopt;
  const char* const tasks =
      environment("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
  // One task alone: an interactive shell, say.
  if (number(environment, tasks).value_or(1) <= 1) return std::nullopt;
  auto found = place(Launcher::kSlurm, environment, "SLURM_PROCID", tasks);
  found->one_host = number(environment, "SLURM_STEP_NUM_NODES") == 1u;
  const auto job = environment("SLURM_JOB_ID");
  const auto hosts = environment("SLURM_STEP_NODELIST");
  if (!job || !hosts) {
    set_no_root(*found, "srun");
    return found;
  }
  found->root = at_port_of(found->one_host ? std::string(kLoopback) : first_host(*hosts),
                           fmt::format("srun {}.{}", *job, *environment("SLURM_STEP_ID")));
  return found;
}

std::optional<LaunchPlace> from_flux(const Environment& environment) {
  if (number(environment, "FLUX_JOB_SIZE").value_or(1) <= 1) return std::nullopt;
  auto found = place(Launcher::kFlux, environment, "FLUX_TASK_RANK", "FLUX_JOB_SIZE");
  found->one_host = number(environment, "FLUX_JOB_NNODES") == 1u;
  const auto job = environment("FLUX_JOB_ID");
  if (found->one_host && job) {
    found->root = at_port_of(kLoopback, "flux " + *job);
  } else {
    set_no_root(*found, "flux");
  }
  return found;
}

std::optional<LaunchPlace> from_pmi(const Environment& environment, pid_t parent) {
  auto found = place(Launcher::kPmi, environment, "PMI_RANK", "PMI_SIZE");
  if (!found) return found;
  // srun and Flux may speak PMI too.
  if (environment("SLURM_STEP_ID") && number(environment, "SLURM_PROCID") == found->rank) {
    const auto slurm = from_slurm(environment);
    if (slurm && slurm->ranks == found->ranks) return slurm;
  }
  if (number(environment, "FLUX_TASK_RANK") == found->rank) {
    const auto flux = from_flux(environment);
    if (flux && flux->ranks == found->ranks) return flux;
  }
  found->one_host = number(environment, "MPI_LOCALNRANKS") == found->ranks;
  if (found->one_host) found->root = at_port_of(kLoopback, fmt::format("mpiexec {}", parent));
  set_no_root(*found, "mpiexec");
  return found;
}

}  // namespace

std::optional<LaunchPlace> place_from(const Environment& environment, pid_t parent) {
  if (auto found = from_open_mpi(environment)) return found;
  if (auto found = from_pmi(environment, parent)) return found;
  if (auto found = from_flux(environment)) return found;
  return from_slurm(environment);
}

Environment environment_of_process() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::optional<LaunchPlace> place_from_environment() {
  return place_from(environment_of_process(), getppid());
}

std::string first_host(const std::string& hosts) {
  const auto refuse = [&hosts]() {
    throw InputError(
        fmt::format("\"{}\" is no list of hosts; expected one as node[03-05,9],login1", hosts));
  };
  std::string host;
  for (std::size_t at = 0; at < hosts.size() && hosts[at] != ','; ++at) {
    if (hosts[at] == ']') refuse();
    if (hosts[at] != '[') {
      host += hosts[at];
      continue;
    }
    const std::size_t close = hosts.find(']', at);
    const std::size_t stop = hosts.find_first_of(",-]", at);
    if (close == std::string::npos || stop == at + 1) refuse();
    host += hosts.substr(at + 1, stop - at - 1);
    at = close;
  }
  if (host.empty()) refuse();
  return host;
}

}  // namespace slackline::hw
