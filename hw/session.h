// Schedules carried out by all ranks of a mesh together, one after the other.
#pragma once

#include <cstdint>
#include <optional>

#include "hw/mesh.h"
#include "hw/run.h"
#include "hw/transport.h"

namespace slackline::hw {

/// All ranks of the mesh make one, and call run() in the same order with the same arguments.
class Session {
 public:
  /// Both must outlive this. Nobody else uses the transport meanwhile. Throws InputError, naming
  /// the hosts, if the transport does not reach all ranks (shm across hosts).
  Session(Mesh& mesh, Transport& transport);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Carries out the schedule. All ranks throw alike
  /// - InputError if their schedules differ, or the schedule has another number of ranks, or the
  ///   delay plan does not fit it;
  /// - Unsupported for what no real run can do: pair rates, link rates and failures of a delay
  /// plan,
  ///   and as Executor does; then the session may still be used.
  /// Afterwards it may not: InputError as Executor::progress() does at any rank; PeerLost, naming
  /// the rank, once a rank is gone; Stalled; EnvironmentError as the transport throws.
  RunResult run(const sched::Schedule& schedule, const RunOptions& options,
                const RunProgress& progress = {});

  /// After run() has thrown: what this rank saw of the iteration that it was in. Nothing if it had
  /// not begun.
  const std::optional<sched::Trace>& partial() const { return partial_; }
  /// Whether run() has thrown what ends a session.
  bool is_broken() const { return broken_; }

 private:
  Mesh& mesh_;
  Transport& transport_;
  std::uint32_t next_channel_ = 0;
  std::optional<sched::Trace> partial_;
  bool broken_ = false;
};

}  // namespace slackline::hw
