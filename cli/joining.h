// How the ranks of a real run find each other: started here as processes of this host, by somebody
// else's launcher, or one by one by hand.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.h"
#include "cli/console.h"
#include "hw/end_signals.h"
#include "hw/mesh.h"
#include "hw/rank_processes.h"
#include "hw/shm_warden.h"
#include "hw/transport.h"
#include "sched/schedule.h"

namespace slackline::cli {

/// What a rank has of the others once it has joined.
struct Joined {
  Joined() = default;
  Joined(Joined&&) = default;
  /// Leaves. Of ranks that were lost it clears away what they left behind.
  ~Joined();
  std::unique_ptr<hw::Mesh> mesh;
  std::unique_ptr<hw::Transport> transport;
};

class Joining {
 public:
  void declare(Arguments& arguments);

  /// What only concerns the options themselves. Throws InputError.
  void check(std::uint32_t ranks) const;

  /// Runs `body` once for each rank: in processes of their own if this one was started alone, else
  /// here, for the rank that it is. Returns the exit code. `body` gets a console of which only rank
  /// 0's is seen. Throws what the ranks came to, with the exit code that goes with it.
  /// `all_bytes` and `most_bytes`: what the ranks' buffers take, together and the largest rank's.
  /// Throws EnvironmentError before any rank starts if this host has no room for them.
  int run_ranks(std::uint32_t ranks, Console& console,
                const std::function<int(const hw::MeshOptions&, Console&)>& body,
                std::uint64_t all_bytes = 0, std::uint64_t most_bytes = 0) const;

  /// Joins the other ranks, who must have the same lines in `agreed`. Once one is lost, the process
  /// ends, as with the PeerLost that it cannot throw, if a call of the transport does not come
  /// back. The transport is the one for `schedule`, where one is given.
  Joined join(hw::MeshOptions options, std::vector<std::string> agreed, Console& console,
              const sched::Schedule* schedule = nullptr) const;

  /// The first of these options that was given, as in "--transport"; empty if none was.
  std::string_view given() const;

  std::string transport() const { return transport_.value_or("shm"); }
  std::chrono::milliseconds failure_timeout() const;

 private:
  std::optional<hw::MeshOptions> place(std::uint32_t ranks) const;
  hw::MeshOptions timeouts() const;
  std::vector<hw::RankEnd> run_forked(
      hw::MeshOptions options, const hw::EndSignals& signals, int nowhere,
      const std::function<int(const hw::MeshOptions&, Console&)>& body) const;
  std::unique_ptr<hw::ShmWarden> start_warden() const;

  std::optional<std::string> transport_, host_, device_, rank_, ranks_, root_, secret_,
      join_timeout_, failure_timeout_;
};

}  // namespace slackline::cli
