// What the system gives to the processes of this host, and whether ranks that are to be started
// here can live on it. Each rank that finds no room says something else, and late: so it is looked
// at before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slackline::hw {

/// Nothing: there is no limit, or it cannot be told.
struct HostLimits {
  std::optional<std::uint64_t> descriptors;    // that a process may have open
  std::uint64_t open_descriptors = 0;          // that this one has
  std::optional<std::uint64_t> processes;      // and threads that this user may still start
  std::optional<std::uint64_t> address_bytes;  // that a process may map beyond what this one has
  std::optional<std::uint64_t> memory_bytes;   // that is free
  std::uint32_t cores = 1;
};

struct RankNeeds {
  std::uint32_t ranks = 1;      // of the run
  bool all_here = true;         // they are all to be started here; else this process is one of them
  std::string transport;        // "shm"
  std::uint64_t all_bytes = 0;  // of all ranks' buffers
  std::uint64_t most_bytes = 0;  // of one rank's
  double failure_timeout_s = 2;  // MeshOptions::failure_timeout
  std::uint32_t rails = 1;       // transports of a rank
};

/// As they are just now. The soft limit of descriptors counts for nothing here, as a process may
/// raise it.
HostLimits host_limits();

/// How many descriptors this process needs, those that it has open included.
std::uint64_t descriptors_needed(const RankNeeds& needs, const HostLimits& limits);

/// Throws EnvironmentError, in figures and with the cure, if the ranks cannot live on it.
void require_limits(const RankNeeds& needs, const HostLimits& limits);

/// The same with this host's. Raises this process's soft limit of descriptors where that is too
/// low; forks inherit it.
void prepare_for_ranks(const RankNeeds& needs);

}  // namespace slackline::hw
