// Sessions of real processes, and what their results are held to.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>

#include "hw/session.h"
#include "hw/transports.h"
#include "sched/compile.h"
#include "sched/workloads/run_check.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/hw/mortal_transport.h"
#include "tests/support/compiled.h"

namespace slackline::testing {

/// Its process may be told to die (mortal_transport.h).
inline std::unique_ptr<hw::Transport> transport_named(const std::string& name) {
  hw::TransportOptions options;
  if (name != "shm") options.host = "127.0.0.1";
  return std::make_unique<MortalTransport>(hw::make_transport(name, options));
}

/// The first arc of a static schedule that a trace breaks, in words; empty if none.
inline std::string first_disorder(const sched::Schedule& schedule, const hw::RunResult& result) {
  sched::Diagnostics found = sched::check_ran_once(schedule, result.trace);
  if (found.empty()) {
    found = sched::check_order(
        schedule, result.trace,
        [&](sched::RankId rank, double time_s) {
          return result.clock_errors[rank.value].at(time_s);
        },
        1);
  }
  return found.empty() ? "" : found.front().message;
}

/// What is wrong with the result of a run, seen at rank 0.
inline std::string first_fault(const sched::Schedule& schedule, const hw::RunOptions& options,
                               const hw::RunResult& result) {
  if (result.breach) return *result.breach;
  if (result.makespans_s.size() != options.iterations) return "not every iteration is told of";
  if (result.trace.schedule != schedule.digest()) return "the trace is of another schedule";
  if (result.rank_finish_s.size() != schedule.rank_count()) return "not every rank finished";
  const double makespan_s = result.makespans_s[result.traced_iteration];
  if (schedule.op_count() != 0 && result.trace.makespan_s() != makespan_s) {
    return fmt::format("the trace's makespan is {}; expected {}", result.trace.makespan_s(),
                       makespan_s);
  }
  return first_disorder(schedule, result);
}

/// One session of processes; `body` is what each does.
using SessionBody = std::function<void(hw::Session&, hw::Mesh&, const MeshRanks::Say&)>;
inline void start_session(MeshRanks& processes, const std::string& transport, std::uint32_t ranks,
                          const SessionBody& body) {
  // libfabric looks at all its providers when it is first used: here once, for all children.
  transport_named("shm");
  processes.start_all(ranks, [=](const hw::MeshOptions& mesh_options, const MeshRanks::Say& say) {
    hw::Mesh mesh(mesh_options);
    const auto net = transport_named(transport);
    hw::Session session(mesh, *net);
    body(session, mesh, say);
  });
}

}  // namespace slackline::testing
