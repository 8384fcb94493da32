// A session in which rank 0 says what is run, and the others follow: for commands that run many
// schedules, of which only rank 0 knows beforehand.
#pragma once

#include <optional>

#include "hw/session.h"
#include "sched/digest.h"

namespace slackline::hw {

/// Rank 0 with followers: they run what it runs.
class Leader {
 public:
  Leader(Mesh& mesh, Transport& transport);
  /// Tells the followers to end.
  ~Leader();
  Leader(const Leader&) = delete;
  Leader& operator=(const Leader&) = delete;

  /// As Session::run().
  RunResult run(const sched::Schedule& schedule, const RunOptions& options,
                const RunProgress& progress = {});
  const std::optional<sched::Trace>& partial() const { return session_.partial(); }

 private:
  Mesh& mesh_;
  Session session_;
  std::optional<sched::Digest> told_;  // the schedule that the followers have
};

/// The other ranks: serves the leader until it tells to end. Throws as Session::run() does, for
/// what ends a session.
void follow(Mesh& mesh, Transport& transport);

}  // namespace slackline::hw
