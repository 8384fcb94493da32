// Which share of a study's points one process of several answers.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace slackline::sweep {

/// One of so many shares of the points, counted from 0.
struct Shard {
  std::uint32_t number = 0;
  std::uint32_t count = 1;
};

/// "3/8", counted from 0. Throws InputError, naming `what`.
Shard parse_shard(std::string_view text, std::string_view what);

/// As the launcher of this process numbers it: a task of a Slurm array, of mpirun (Open MPI, or PMI
/// as MPICH has it), or of srun. `variable` is getenv(). Throws InputError, naming `what`, where
/// there is none, and for an array whose tasks are not numbered from 0 in steps of 1.
Shard shard_of_launcher(const std::function<const char*(const char* name)>& variable,
                        std::string_view what);

}  // namespace slackline::sweep
