// What all ranks but rank 0 decide while ranks join: whom they connect to, and when they are ready.
// It knows no sockets and no clock, as hw/mesh/root_protocol.h; its owner is hw/mesh/join_other.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hw/mesh.h"
#include "hw/mesh/join_state.h"

namespace slackline::hw {

/// What the owner does for it.
class OtherActions {
 public:
  virtual ~OtherActions() = default;
  virtual void tell_root(std::span<const std::byte> bytes) = 0;
  /// late() is to follow after this time, and not when it was to follow before.
  virtual void set_deadline(std::chrono::milliseconds time) = 0;
  /// Ranks that come are to be greeted from now on.
  virtual void accept() = 0;
  /// connected() or unreachable() is to follow, within this time.
  virtual void connect(std::uint32_t rank, std::chrono::milliseconds time) = 0;
  /// complain() is to follow after this time.
  virtual void complain_after(std::chrono::milliseconds time) = 0;
};

/// Each function is an event, told in the order in which they happen until `state().done`. It
/// begins when rank 0's first frame has come.
class OtherProtocol {
 public:
  /// `options` and `actions` outlive it.
  OtherProtocol(const MeshOptions& options, Hello hello, OtherActions& actions);

  const JoinState& state() const { return state_; }
  void listens_at(std::string_view address, std::uint32_t port);

  /// Rank 0 says something. Throws WireError for what is none: as if its connection had ended.
  void heed(const Frame& frame);
  void root_ended();
  /// Somebody says Hello. Answers whether it is a rank that this one waits for.
  bool greet(const Hello& hello);
  /// To a rank that it was to be connected with, and its Hello is on its way.
  void connected(std::uint32_t rank);
  /// `gone`: nobody listens there any more. `how`: in words, as far as why.
  void unreachable(std::uint32_t rank, bool gone, std::string_view how);
  void complain();
  /// `refused`: somebody at rank 0's address did not know the secret.
  void late(bool refused);

 private:
  void take_table(const Frame& frame);
  void ready_if_all_there();
  bool is_neighbour(std::uint32_t rank) const;
  void end(JoinVerdict verdict);

  const MeshOptions& options_;
  OtherActions& actions_;
  JoinState state_;
  std::vector<bool> connected_;         // by rank
  std::optional<JoinVerdict> problem_;  // told to rank 0, who decides
  bool welcome_ = false;                // rank 0 has taken this rank in
  bool has_table_ = false;              // and said where the others listen
  bool ready_ = false;                  // connected to all neighbours
};

}  // namespace slackline::hw
