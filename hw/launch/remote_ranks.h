// The ranks of a run on several hosts, started from here: an ssh to each host starts an agent
// there, which forks that host's ranks and says what came of them (hw/launch/agent_words.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/rank_processes.h"

namespace slackline::hw {

struct RemoteHost {
  std::string name;                  // for people
  std::vector<std::string> command;  // what starts its agent: "ssh", "-o", …
  std::vector<std::uint32_t> ranks;  // ascending, at least one; rank 0 is on the first host
};

struct RemoteRun {
  std::vector<RemoteHost> hosts;
  std::uint32_t ranks = 0;
  std::string program;      // the agent's, for people
  std::string secret_text;  // Secret::drawn_text()
  /// Within which all agents must have greeted.
  std::chrono::milliseconds join_timeout{30'000};
  /// Once a host ended badly, how long others have to do so too.
  std::chrono::milliseconds grace{7'000};
};

/// What came of it: the most telling of the hosts' ends, and rank 0's output and notes.
struct RemoteOutcome {
  RankEnd end;
  std::string out;
  std::string err;
};

/// Returns when all agents have ended. Once the descriptor `stop` is readable, or if a host is
/// lost, those that are left are hung up on, which ends their ranks; what does not end by that is
/// no more waited for. An end names the host where it is about a host. Throws EnvironmentError if
/// an ssh cannot be started. SIGPIPE must be ignored.
RemoteOutcome run_remote_ranks(const RemoteRun& run, int stop);

}  // namespace slackline::hw
