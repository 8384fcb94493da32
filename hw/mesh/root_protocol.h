// What rank 0 decides while ranks join: whom it takes in, and whether there will be a run. It knows
// no sockets and no clock, which are its owner's (hw/mesh/join_root.cc): so tests bring events in
// any order (tests/support/join_system.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "hw/mesh.h"
#include "hw/mesh/join_state.h"

namespace slackline::hw {

/// What the owner does for it. Guests are whoever was greeted, from 0 on.
class RootActions {
 public:
  virtual ~RootActions() = default;
  virtual void send(std::size_t guest, std::span<const std::byte> bytes) = 0;
  /// sent() is to follow when all has gone out, or when the time to join is over.
  virtual void finish() = 0;
  /// stayed() is to follow after this time.
  virtual void stay(std::chrono::milliseconds time) = 0;
};

/// Each function is an event, told in the order in which they happen until `state().done`.
class RootProtocol {
 public:
  /// `options` and `actions` outlive it. `run`: the number of the run.
  RootProtocol(const MeshOptions& options, Hello hello, std::uint64_t run, RootActions& actions);

  const JoinState& state() const { return state_; }
  /// Whether ranks were told to go. What comes from then on is for the mesh.
  bool going() const { return going_; }

  /// Whether who says Hello is worth an answer. Others change nothing.
  bool hears(const Hello& hello) const;
  /// Somebody who is becomes a guest. `left`: until the time to join is over. Answers whether it is
  /// the rank that it says.
  bool greet(const Hello& hello, std::chrono::milliseconds left);
  /// A guest says something. Throws WireError for what is none: it is to be listened to no more.
  void heed(std::size_t guest, const Frame& frame);
  /// A guest's connection has ended, or is listened to no more.
  void ended(std::size_t guest);
  /// The time to join is over. `starved`, `strangers`: as the door has it.
  void late(bool starved, std::uint64_t strangers);
  void stayed();
  void sent();

 private:
  struct Guest {
    std::uint32_t rank = 0;
    bool told = false;  // the verdict
    bool ended = false;
  };

  bool judge(const Hello& hello, std::chrono::milliseconds left);
  void send_table(std::chrono::milliseconds left);
  void go();
  void send_to_ranks(const Bytes& bytes);
  std::vector<std::uint32_t> not_ready(bool waiting) const;
  void decide(JoinVerdict verdict);
  void tell_all();
  void end_if_all_told();

  const MeshOptions& options_;
  RootActions& actions_;
  JoinState state_;
  std::vector<Guest> guests_;
  std::vector<std::optional<std::size_t>> guest_of_;  // by rank; none: it has not come
  std::set<std::uint32_t> came_;
  std::set<std::uint32_t> ready_;
  std::set<std::uint32_t> waiting_;
  bool going_ = false;
  bool late_ = false;  // the time to join is over
};

}  // namespace slackline::hw
