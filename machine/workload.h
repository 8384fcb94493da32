// Workloads: many multicasts in overlapping groups, arriving over time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "sched/compose.h"

namespace slackline::machine {

/// Ranks that send each other messages, one after the other, by one pattern.
struct WorkloadGroup {
  std::string name;
  std::vector<sched::RankId> ranks;  // pattern rank i is the i-th of them
  std::string pattern;               // a spec without ranks and bytes
  sched::RankId root;                // of the pattern: a place in `ranks`
  /// A message arrives when its root has done all of the group's last one (or at its arrival, if
  /// that is later). Otherwise arrivals are what they are, and a message may have to wait.
  bool closed = true;
};

struct WorkloadMessage {
  std::uint32_t group = 0;
  sched::Time arrival{0};  // at the root; of closed groups the earliest
  std::uint64_t bytes = 0;
};

/// Messages of one group keep their order.
struct Workload {
  std::string name;  // the file, for people
  std::uint32_t ranks = 1;
  std::uint64_t seed = 0;
  std::vector<WorkloadGroup> groups;
  std::vector<WorkloadMessage> messages;  // by arrival, then by group
};

/// The newest `schema` that workload_from_toml() reads.
inline constexpr std::uint32_t kWorkloadSchema = 1;

/// Reads a workload (docs/guide/workloads.md shows the form). `file` names it in errors and says
/// where the files are that it names. Draws depend on the seed in it alone; `seed` replaces that.
/// Throws InputError "file:line: …", also where all the schedules together would be too large.
Workload workload_from_toml(std::string_view text, std::string_view file,
                            std::optional<std::uint64_t> seed = std::nullopt);

/// Reads the file at `path`. Throws InputError.
Workload load_workload(const std::string& path, std::optional<std::uint64_t> seed = std::nullopt);

/// The spec of a message's schedule, in its canonical text.
std::string spec_of(const WorkloadGroup& group, std::uint64_t bytes);

/// One schedule of all messages; part i is message i. A message waits for its group's last one on
/// every rank, and at its root also for its arrival: receivers make themselves ready before. What
/// is alike is compiled once. Throws InputError as compile() and compose() do.
sched::Composition compose_workload(const Workload& workload);

}  // namespace slackline::machine
