// Which rank a process is, as whoever started it says.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace slackline::hw {

/// Who said so.
enum class Launcher : std::uint8_t { kOpenMpi, kSlurm, kFlux, kPmi };

struct LaunchPlace {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  Launcher launcher = Launcher::kPmi;
  /// All ranks are known to be on this host.
  bool one_host = false;
  /// Where rank 0 listens, "host:port". Empty if that is not told.
  std::string root;
  /// Then, and where it is a guess: what the user is to do, in one line.
  std::string why_no_root;
};

/// A variable's value, if it is there.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// From Open MPI's mpirun (OMPI_COMM_WORLD_*), from a launcher that speaks PMI (PMI_RANK,
/// PMI_SIZE), from Flux (FLUX_TASK_RANK, FLUX_JOB_SIZE), or from srun (SLURM_*); of the latter two
/// in jobs of more than one task. In this order, as the former may have been started by the latter.
/// Nothing for a process that was started alone.
///
/// All ranks on one host meet at 127.0.0.1; ranks of srun on several, at the first host of the
/// step. The port follows from the job's number, between 20000 and 29999; PMI tells none, and the
/// process that started all of them takes its place: `parent`. A launcher may offer better
/// (hw/launch/key_exchange.h).
///
/// Throws InputError for values that are no numbers or do not fit together.
std::optional<LaunchPlace> place_from(const Environment& environment, pid_t parent);

/// This process's variables.
Environment environment_of_process();

/// This process's place.
std::optional<LaunchPlace> place_from_environment();

/// The first of Slurm's list of hosts: "node03" of "node[03-05,9],login1". Throws InputError for
/// what is no such list.
std::string first_host(const std::string& hosts);

}  // namespace slackline::hw
