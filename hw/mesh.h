// The ranks of a run, known to each other over TCP, for setting up connections, for telling what is
// not worth a transport, and for learning at once that a rank is gone. Few ranks are all connected,
// as RDMC has it; many are so with some, and with others when they first tell them something
// (hw/mesh/neighbours.h). All that they say is sealed with a secret of the run (hw/mesh/seal.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/mesh/clock_track.h"
#include "hw/mesh/neighbours.h"
#include "hw/mesh/secret.h"
#include "hw/transport.h"

namespace slackline::hw {

using Bytes = std::vector<std::byte>;

struct MeshOptions {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  /// Where rank 0 listens and all others ask for it, "host:port". May be empty with one rank.
  std::string root;
  /// At rank 0: a socket that is bound to `root`, such as a LocalPort has. The mesh listens with a
  /// duplicate of it, and stops listening for all who hold it once the ranks have joined or failed
  /// to. −1: the mesh binds one itself.
  int root_socket = -1;
  /// The address this rank is reached at; empty: the one from which it reached the root.
  std::string host;
  /// What all ranks know and nobody else does. None: whoever reaches the ports of the mesh may take
  /// part, so that only addresses of the loopback interface are listened on.
  std::optional<Secret> secret;
  /// How long all ranks may take to come.
  std::chrono::milliseconds join_timeout{30'000};
  /// After a rank is lost, all others know within this time. ≥ 100 ms.
  std::chrono::milliseconds failure_timeout{2'000};
  /// At rank 0: called, while ranks join, with how many of them are there, itself included.
  std::function<void(std::uint32_t joined)> on_join;
  /// What all ranks must agree on: one line each, "name: value" ("schedule: 1f3c…").
  std::vector<std::string> agreed;
  /// Memory that messages may take which other ranks have sent and this one has not taken, in all.
  /// Beyond it, the rank that sent most of them is lost. 0: half of what is free when this rank
  /// joins; 1 GiB where that is not known.
  std::uint64_t most_unread_bytes = 0;
  /// Up to so many ranks, all are connected from the beginning; the same at all ranks.
  std::uint32_t full_up_to = kFullMeshRanks;
  /// What this rank takes its program's version for. Empty: what it is. For tests.
  std::string version;
};

/// A rank that is gone, and how that showed: "its connection ended", "silent for 1.4 s". It may be
/// this rank itself: "stopped for 5 s", or others no longer hear it.
struct Loss {
  std::uint32_t rank = 0;
  std::string how;
  /// Who saw it; others were told.
  std::uint32_t seen_by = 0;
};

/// One per process. A thread of its own hears and answers, so that peers know this rank alive
/// whatever its other threads do; all functions may be called by any thread.
///
/// Functions that wait for others throw PeerLost when a rank is lost meanwhile, or when a rank that
/// they wait for has left; what has come before, they still give.
class Mesh {
 public:
  /// Joins. Returns when all ranks are there and agree. Throws EnvironmentError if rank 0 cannot
  /// listen (port in use; no secret, and the address is none of loopback), a name means nothing, a
  /// rank cannot reach another, and for a peer of another version; InputError if ranks do not
  /// agree, naming two of them and what they have; PeerLost naming a rank that did not come in
  /// time. The same at all ranks.
  explicit Mesh(const MeshOptions& options);
  /// Says farewell, so that nobody takes this rank for lost, and leaves when what was sent has gone
  /// out. Who does not take it is lost within the failure timeout, so that it ends in any case.
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  std::uint32_t rank() const;
  std::uint32_t ranks() const;

  /// Never waits; `bytes` are copied. Messages of one sender and topic arrive in order, those to a
  /// rank that is gone nowhere.
  void send(std::uint32_t to, std::uint32_t topic, std::span<const std::byte> bytes);
  /// The next message; waits for it.
  Bytes receive(std::uint32_t from, std::uint32_t topic);
  /// The next message if there is one.
  std::optional<Bytes> try_receive(std::uint32_t from, std::uint32_t topic);
  /// The next message; nothing if it does not come in time, or `from` is gone. Goes on when others
  /// are lost: for what survivors have to tell each other.
  std::optional<Bytes> receive_within(std::chrono::milliseconds time, std::uint32_t from,
                                      std::uint32_t topic);

  /// What every rank gave, by rank. All ranks call it, in the same order, from one thread each.
  std::vector<Bytes> all_gather(std::span<const std::byte> bytes);
  void barrier();

  /// Whether a rank is lost; cheap.
  bool any_lost() const;
  /// In the order in which this rank learned of them.
  std::vector<Loss> lost() const;
  /// Whether nothing comes of a rank any more: it is lost, or has left. All that it sent has come.
  /// A rank that was killed when it knew of another's loss counts as one that has left, too: a
  /// process may end in any way because of a loss.
  bool is_gone(std::uint32_t rank) const;
  /// Throws PeerLost for the first that was lost, if any was.
  void throw_if_lost() const;
  /// Readable from when a rank is lost on, for those that sleep.
  int lost_descriptor() const;

  /// Follows rank 0's clock: asks it now (32 round trips), forgetting what was known, and from then
  /// on ten times a second, unless it is this host's own. Answers whether it may be another clock.
  /// Rank 0 must still be there; itself it has nothing to follow.
  bool follow_clock();
  /// While it is followed: what rank 0's clock shows beyond this one's just now.
  ClockOffset clock() const;
  /// While it is followed: what was found out by other means.
  void add_clock_sample(const ClockSample& sample);
  /// Asks once more (32 round trips; rank 0 must still be there) and follows no longer: the clock
  /// from follow_clock() to here.
  ClockTrack followed_clock();
  /// Follows no longer. Does nothing if it does not.
  void leave_clock();

  /// The ranks on the host of this one, itself included, ascending: those that share its memory
  /// (/dev/shm) and see its processes.
  std::vector<std::uint32_t> ranks_on_this_host() const;
  /// Whether two ranks share memory and see each other's processes.
  bool is_same_host(std::uint32_t one, std::uint32_t other) const;
  /// How a rank's host calls itself; two hosts may do so alike.
  std::string host(std::uint32_t rank) const;
  /// A rank's process, as its host numbers it.
  pid_t process(std::uint32_t rank) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline::hw
