// How the ranks of a real run find each other: started here as processes of this host, by somebody
// else's launcher, one by one by hand, or by this process on other hosts.
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
#include "cli/completion_option.h"
#include "cli/console.h"
#include "cli/hosts_options.h"
#include "cli/verbs_arguments.h"
#include "hw/binding.h"
#include "hw/end_signals.h"
#include "hw/launch/agent.h"
#include "hw/launch/key_exchange.h"
#include "hw/launch/meeting.h"
#include "hw/mesh.h"
#include "hw/place.h"
#include "hw/rank_processes.h"
#include "hw/shm_warden.h"
#include "hw/transport.h"
#include "hw/transports.h"
#include "machine/node.h"
#include "sched/schedule.h"

namespace slackline::cli {

/// What a rank has of the others once it has joined.
struct JoinedRank {
  JoinedRank() = default;
  JoinedRank(JoinedRank&&) = default;
  /// Leaves. Of ranks that were lost it clears away what they left behind.
  ~JoinedRank();
  std::unique_ptr<hw::Mesh> mesh;
  std::unique_ptr<hw::Transport> transport;
};

class Joining {
 public:
  void declare(Arguments& arguments);

  /// What only concerns the options themselves. Throws InputError.
  /// `by_standard_input`: the schedule came from there, where other hosts do not have it.
  void check(std::uint32_t ranks, bool by_standard_input = false) const;

  /// Runs `body` once for each rank: in processes of their own if this one was started alone, by
  /// way of agents on other hosts where --hosts lists them, else here, for the rank that it is.
  /// Returns the exit code. `body` gets a console of which only rank 0's is seen. Throws what the
  /// ranks came to, with the exit code that goes with it. `all_bytes` and `most_bytes`: what the
  /// ranks' buffers take, together and the largest rank's. Throws EnvironmentError before any rank
  /// starts if this host has no room for them.
  int run_ranks(std::uint32_t ranks, Console& console,
                const std::function<int(const hw::MeshOptions&, Console&)>& body,
                std::uint64_t all_bytes = 0, std::uint64_t most_bytes = 0) const;

  /// Joins the other ranks, who must have the same lines in `agreed`, and binds the calling thread
  /// where --bind asks for it. Once one is lost, the process
  /// ends, as with the PeerLost that it cannot throw, if a call of the transport does not come
  /// back. The transport is the one for `schedule`, where one is given.
  /// Of several interfaces each has a transport, and `rails` says which channels take which.
  JoinedRank join(hw::MeshOptions options, std::vector<std::string> agreed, Console& console,
                  const sched::Schedule* schedule = nullptr, const machine::Node& node = {}) const;

  /// Throws InputError unless as many interfaces were named as the platform has rails. Called
  /// before check() by those who let a schedule's channels be dealt to them.
  void check_rails(const machine::Node& node) const;

  /// What ranks only copy shall go as datagrams to a group. check() throws Unsupported then for
  /// transports that have none.
  void use_multicast() { multicast_ = true; }

  /// The first of these options that was given, as in "--transport"; empty if none was.
  std::string_view given() const;

  std::string transport() const {
    return transport_.value_or(hosts_.given().empty() ? "shm" : "auto");
  }
  /// Throws InputError.
  hw::Binding binding() const;
  std::chrono::milliseconds failure_timeout() const;
  /// Throws InputError.
  hw::Waiting waiting() const { return completion_.waiting(); }

 private:
  // A rank that somebody else started.
  struct Started {
    hw::MeshOptions options;  // without root and secret where the launcher tells them
    hw::LaunchPlace place;
    hw::LauncherKeys exchange;
  };
  std::optional<Started> place(std::uint32_t ranks) const;
  bool is_started_by_others() const;
  static void complete(hw::MeshOptions& options);
  static hw::Meeting meet(Started& here, Console& console);
  hw::MeshOptions timeouts() const;
  // Which ranks are forked here, where rank 0's output goes, and a descriptor at whose end they
  // end.
  struct Forks {
    std::vector<std::uint32_t> ranks;
    int out = 1;
    int err = 2;
    int end = -1;
  };
  std::vector<hw::RankEnd> run_forked(
      const hw::MeshOptions& options, const Forks& forks, const hw::EndSignals& signals,
      int nowhere, const std::function<int(const hw::MeshOptions&, Console&)>& body) const;
  std::unique_ptr<hw::ShmWarden> start_warden() const;
  std::vector<std::string> interfaces() const;
  // How many transports a rank has, at the most.
  std::uint32_t rails() const;
  std::unique_ptr<hw::Transport> make_transports(std::string_view chosen,
                                                 const hw::TransportOptions& with,
                                                 const hw::Mesh& mesh,
                                                 const machine::Node& node) const;
  void check_beside_hosts(std::uint32_t ranks, bool by_standard_input) const;
  // On other hosts, and on this one for a process on another one.
  int run_elsewhere(std::uint32_t ranks, Console& console) const;
  int run_as_agent(std::uint32_t ranks,
                   const std::function<int(const hw::MeshOptions&, Console&)>& body,
                   std::uint64_t all_bytes, std::uint64_t most_bytes) const;
  hw::RankEnd run_ordered(const hw::AgentOrder& order, hw::AgentLink& link, Forks forks,
                          const std::function<int(const hw::MeshOptions&, Console&)>& body,
                          std::uint64_t all_bytes, std::uint64_t most_bytes) const;

  VerbsArguments verbs_;
  HostsOptions hosts_;
  CompletionOption completion_;
  bool multicast_ = false;
  std::optional<std::string> transport_, host_, interface_, rank_, ranks_, root_, secret_,
      join_timeout_, failure_timeout_, bind_;
};

}  // namespace slackline::cli
