// The ranks of a benchmark, all on this host: this process is rank 0, and forks the others.
#pragma once

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <exception>

#include "base/end_with_parent.h"
#include "hw/local_port.h"
#include "hw/mesh.h"

namespace slackline::bench {

/// Has each of them call `be_rank(options)`. What one throws it says, and ends with 1. Returns when
/// all have ended: 0 if rank 0 has thrown nothing.
template <class BeRank>
int run_on_local_ranks(std::uint32_t ranks, const BeRank& be_rank) {
  const hw::LocalPort port;
  hw::MeshOptions options;
  options.ranks = ranks;
  options.root = port.address();
  options.root_socket = port.socket();
  options.secret = hw::Secret::random();
  const auto status_of_rank = [&] {
    try {
      be_rank(options);
      return 0;
    } catch (const std::exception& error) {
      fmt::print(stderr, "rank {}: {}\n", options.rank, error.what());
      return 1;
    }
  };
  for (options.rank = 1; options.rank < ranks; ++options.rank) {
    const pid_t parent = getpid();
    if (fork() != 0) continue;
    sched::end_with_parent(parent);
    _exit(status_of_rank());
  }
  options.rank = 0;
  const int status = status_of_rank();
  while (wait(nullptr) > 0) {
  }
  return status;
}

}  // namespace slackline::bench
