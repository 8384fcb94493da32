// The tree of a Monte-Carlo tree search over Hex that many rollouts grow at once: upper confidence
// bounds, with a virtual loss for each rollout that is still under way below a vertex.
#pragma once

#include <cstdint>
#include <vector>

#include "sched/workloads/tasks/hex_board.h"

namespace slackline::sched {

struct HexVertex {
  std::uint32_t parent = 0;              // the root's is itself
  std::uint32_t owner = 0;               // the rank that holds it, uniform at random
  std::uint8_t move = 0;                 // that leads here
  HexPlayer mover = HexPlayer::kSecond;  // who made it
  std::uint32_t visits = 0;
  std::uint32_t wins = 0;  // of the mover
  std::uint32_t under_way = 0;
  std::vector<std::uint8_t> untried;  // moves without a child yet, in the order of their turn
  std::vector<std::uint32_t> children;
};

class HexTree {
 public:
  HexTree(std::uint32_t ranks, std::uint64_t seed);

  const HexVertex& vertex(std::uint32_t id) const { return vertices_[id]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(vertices_.size()); }

  struct Step {
    std::uint32_t vertex = 0;
    bool fresh = false;  // just made: the rollout's playouts start from it
  };
  /// A rollout is at `id`, and marks it as under way: the child that it goes to, a new one while
  /// there are untried moves. At the end of a game, `id` itself, fresh.
  Step descend(std::uint32_t id);
  /// A rollout ends at `id`, which is fresh: `playouts` of them; how many the first player wins.
  std::uint32_t play_out(std::uint32_t id, std::uint32_t playouts, std::uint64_t rollout);
  /// The result comes back to `id`: it counts, and the virtual loss is taken away.
  void update(std::uint32_t id, std::uint32_t playouts, std::uint32_t first_wins);

 private:
  HexBoard board_of(std::uint32_t id) const;
  std::uint32_t add_child(std::uint32_t id);
  void fill_untried(std::uint32_t id);

  std::uint32_t ranks_;
  std::uint64_t seed_;
  std::vector<HexVertex> vertices_;
};

/// The natural logarithm of a whole number ≥ 1, to about 1e-12; the same bits on every machine.
double log_of_count(std::uint32_t count);

}  // namespace slackline::sched
