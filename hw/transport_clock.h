// Rank 0's clock, asked over channels of the transport that carries a run. Half a round trip is how
// far off an answer may be. The mesh's round trips go through the kernel and wake a thread; a
// transport that is polled has shorter ones, over RDMA by ten times.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "hw/mesh.h"
#include "hw/mesh/clock_track.h"
#include "hw/transport.h"
#include "hw/watched_time.h"

namespace slackline::hw {

/// The same calls at all ranks, at the same points of a run, while no rank has anything else under
/// way in the transport.
class TransportClock {
 public:
  /// Questions of a round, of which the shortest round trip counts.
  static constexpr std::uint32_t kQuestions = 32;
  /// Ranks that ask: rank 0 answers them one after the other, and each costs it a few round trips a
  /// question. Ranks beyond these go by what the mesh tells.
  static constexpr std::uint32_t kMostAsking = 64;
  /// So many numbers its channels take.
  static constexpr std::uint32_t kChannels = 2 * kMostAsking;

  /// Takes completions that are not of these channels.
  using Others = std::function<void(const Completion&)>;

  /// Connects. `asking`: ranks whose clock may not be rank 0's, ascending, without rank 0; the
  /// first kMostAsking ask. Channels have numbers from `first_channel` on. Both references must
  /// outlive this. `patience`: how long nothing may be heard of a rank that is waited for. Throws
  /// PeerLost, and what the transport throws.
  TransportClock(Mesh& mesh, Transport& transport, std::span<const std::uint32_t> asking,
                 std::uint32_t first_channel, Others others,
                 WatchedTime::Duration patience = std::chrono::seconds(60));
  ~TransportClock();
  TransportClock(const TransportClock&) = delete;
  TransportClock& operator=(const TransportClock&) = delete;

  /// Asks, or answers all that ask. The best answer; nothing at rank 0 and at ranks that do not
  /// ask. Throws PeerLost if a rank is lost, or the one that is waited for has left; Stalled; and
  /// what the transport throws.
  std::optional<ClockSample> round();

  /// After the last round, when all ranks are through it. Without it the channels stay open, and
  /// the transport is of no use to others.
  void close();

 private:
  // The two channels between this rank and another, and what is under way on them.
  struct Pair {
    std::uint32_t peer = 0;
    std::uint32_t out = 0;    // channel of this rank's messages
    std::uint32_t in = 0;     // of the other's
    std::uint32_t sent = 0;   // of this rank's, that are not known to have come
    std::uint32_t heard = 0;  // of the other's, that nothing was made of yet
  };
  struct Words {
    std::int64_t said = 0;
    std::int64_t heard = 0;
  };

  std::vector<ChannelEnd> ends() const;
  void listen(std::uint32_t pair);
  void say(std::uint32_t pair, std::int64_t word);
  std::int64_t hear(std::uint32_t pair);
  void settle(std::uint32_t pair);
  void post(RequestKind kind, std::uint32_t pair, std::int64_t& word);
  // While the other of that pair is waited for.
  void poll(std::uint32_t awaited);
  void look(std::uint32_t awaited);
  ClockSample ask();
  void answer(std::uint32_t pair);

  Mesh& mesh_;
  Transport& transport_;
  const Others others_;
  const WatchedTime::Duration patience_;
  WatchedTime waited_;        // since something came
  std::uint64_t idle_ = 0;    // polls since then
  std::vector<Pair> pairs_;   // at rank 0 with each that asks; else with rank 0, or none
  std::vector<Words> words_;  // by pair; registered
  LocalMemory memory_;
};

}  // namespace slackline::hw
