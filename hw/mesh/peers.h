// The connections of a mesh, and the thread that hears and answers: heartbeats, messages in parts,
// who is lost and who has left.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "hw/mesh/clock_follower.h"
#include "hw/mesh/inbox.h"
#include "hw/mesh/join.h"
#include "hw/mesh/meetings.h"
#include "hw/mesh/wire.h"

namespace slackline::hw {

class MeshPeers {
 public:
  /// Takes over what came of the join, and begins. What is heard goes to the inbox, which must
  /// outlive this; options.most_unread_bytes must be known. Nobody but this rank: does nothing,
  /// without a thread.
  MeshPeers(const MeshOptions& options, Joined joined, Inbox& inbox);
  /// Says farewell and leaves, as Mesh does.
  ~MeshPeers();
  MeshPeers(const MeshPeers&) = delete;
  MeshPeers& operator=(const MeshPeers&) = delete;

  /// `kind`: a long one. Not to this rank.
  void send(std::uint32_t to, FrameKind kind, std::uint32_t topic,
            std::shared_ptr<const Bytes> bytes);
  /// Connects with a rank, unless it is already: for those that wait for its word and must know
  /// when it has left.
  void meet(std::uint32_t rank);
  /// Not at rank 0: asks it for its clock, ClockFollower::kRound times. Delivers an empty
  /// kClockTell from it when all answers are there. `anew`: forgets those before.
  void ask_clock_often(bool anew);
  /// Not at rank 0: asks it for its clock now and then, or does so no more.
  void follow_clock(bool follow);
  /// Its answers, and what else is told of it.
  const ClockFollower& clock() const { return clock_; }
  ClockFollower& clock() { return clock_; }

 private:
  using Clock = std::chrono::steady_clock;

  // A message on its way; several peers may share its bytes.
  struct Outgoing {
    FrameKind kind;
    std::uint32_t topic;
    std::shared_ptr<const Bytes> bytes;
    std::size_t sent = 0;
  };

  // Another rank, and the connection to it.
  struct Peer {
    Peer(asio::io_context& io, std::uint32_t its_rank)
        : rank(its_rank), socket(io), buffer(16 << 10) {}

    const std::uint32_t rank;
    asio::ip::tcp::socket socket;
    std::unique_ptr<Seal> seal;
    Bytes buffer;
    RecordReader records;
    FrameReader reader;
    std::vector<Frame> frames;
    Clock::time_point heard = Clock::now();

    Bytes control;  // short frames that wait; before all messages
    std::deque<Outgoing> messages;
    bool writing = false;

    bool there = true;  // neither lost nor left
    bool connected = false;
    bool knows_of_loss = false;
    bool farewell_sent = false;
  };

  void adopt(Peer& peer, Connection connection);
  NeighbourMeetings::Asks asks();
  void met(Peer& peer, Connection connection);

  // The thread.
  void hear();
  void begin();
  // Peers are told often that this rank is there, and looked at as often.
  void tick();
  // A process that was stopped finds all others silent: it is the one that is lost.
  void notice_own_stop();
  void read(Peer& peer);
  void take(Peer& peer, std::span<const std::byte> bytes);
  // What was sent and not taken has a bound: beyond it, the rank that sent most of it is lost.
  void bound_unread();
  void heed(Peer& peer, Frame& frame);
  void ask_clock();
  void tick_clock();
  void say(Peer& peer, FrameKind kind, std::span<const std::byte> payload = {});
  // The next of what waits to be said.
  void write(Peer& peer);
  void said_all(Peer& peer);
  void ended(Peer& peer);
  // Everybody is told, the lost rank too: it may have been stopped only.
  void lose(const Loss& loss);
  // The process may end in any way once it knows of a loss. So its peers know first, that this was
  // why; at the latest with the next tick, as one of them may be slow to listen.
  void tell_losses();
  bool is_relaying() const;
  // Nothing comes from it any more, nor goes to it but what was begun.
  void gone(Peer& peer);
  // …since it has left.
  void left(Peer& peer);
  void close(Peer& peer);
  void leave();
  bool all_left() const;

  const std::uint32_t rank_;
  const Clock::duration timeout_;
  const std::uint64_t most_unread_;
  Inbox& inbox_;

  // The thread's alone.
  asio::io_context io_;
  asio::steady_timer tick_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; none for this one
  std::vector<bool> lost_;                    // by rank
  std::vector<Loss> losses_;                  // all
  std::vector<Loss> untold_;                  // to the inbox
  std::vector<std::uint32_t> untold_left_;    // to the inbox, after those
  Clock::time_point awake_;
  bool leaving_ = false;
  asio::steady_timer clock_tick_;
  bool follows_clock_ = false;
  ClockFollower clock_;
  NeighbourMeetings meetings_;

  std::thread thread_;
};

}  // namespace slackline::hw
