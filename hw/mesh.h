// The ranks of a run, known to each other over TCP: a full mesh, as RDMC has it, for setting up
// connections, for telling what is not worth a transport, and for learning at once that a rank is
// gone.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/transport.h"

namespace slackline::hw {

using Bytes = std::vector<std::byte>;

struct MeshOptions {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  /// Where rank 0 listens and all others ask for it, "host:port". May be empty with one rank.
  std::string root;
  /// The address this rank is reached at; empty: the one from which it reached the root.
  std::string host;
  /// How long all ranks may take to come.
  std::chrono::milliseconds join_timeout{30'000};
  /// After a rank is lost, all others know within this time. ≥ 100 ms.
  std::chrono::milliseconds failure_timeout{2'000};
  /// What all ranks must agree on: one line each, "name: value" ("schedule: 1f3c…").
  std::vector<std::string> agreed;
};

/// A rank that is gone, and how that showed: "its connection ended", "silent for 1.5 s".
struct Loss {
  std::uint32_t rank = 0;
  std::string how;
  /// Who saw it; others were told.
  std::uint32_t seen_by = 0;
};

/// The other ranks' clocks against rank 0's.
struct ClockOffset {
  double offset_s = 0;  // rank 0's steady clock minus this rank's
  double error_s = 0;   // at most this far off
};

/// One per process. A thread of its own hears and answers, so that peers know this rank alive
/// whatever its other threads do; all functions may be called by any thread.
///
/// Functions that wait for others throw PeerLost when a rank is lost meanwhile.
class Mesh {
 public:
  /// Joins. Returns when all ranks are there and agree. Throws EnvironmentError if rank 0 cannot
  /// listen (port in use) or the root's name means nothing, and for a peer of another version;
  /// InputError if ranks do not agree, naming two of them and what they have; PeerLost naming a
  /// rank that did not come in time.
  explicit Mesh(const MeshOptions& options);
  /// Says farewell, so that nobody takes this rank for lost, and leaves. Never waits long.
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  std::uint32_t rank() const;
  std::uint32_t ranks() const;

  /// Messages of one sender and topic arrive in order.
  void send(std::uint32_t to, std::uint32_t topic, std::span<const std::byte> bytes);
  /// The next message; waits for it.
  Bytes receive(std::uint32_t from, std::uint32_t topic);
  /// The next message if there is one.
  std::optional<Bytes> try_receive(std::uint32_t from, std::uint32_t topic);

  /// What every rank gave, by rank. All ranks call it, in the same order.
  std::vector<Bytes> all_gather(std::span<const std::byte> bytes);
  void barrier();

  /// The ranks known to be lost; cheap while there are none.
  bool any_lost() const;
  std::vector<Loss> lost() const;
  /// Readable from when a rank is lost on, for those that sleep.
  int lost_descriptor() const;

  /// Of this rank, as measured by all ranks together: all call it. On one host the clock is the
  /// same and both are 0.
  ClockOffset measure_clock();

  /// The ranks on the host of this one, itself included, ascending.
  std::vector<std::uint32_t> ranks_on_this_host() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace slackline::hw
