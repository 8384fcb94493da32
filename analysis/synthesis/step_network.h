// A network in steps of equal length: which messages of one unit can go side by side.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/synthesis/ways.h"

namespace slackline::analysis {

inline constexpr std::uint32_t kMostStepRanks = 8;

/// Sets of ranks, one bit for each.
using RankSet = std::uint32_t;
/// Which rank takes the place of each.
using RankPermutation = std::array<std::uint8_t, kMostStepRanks>;

/// In a step each rank sends one unit at most and receives one at most, and a link carries as many
/// as its rate holds of the ways'. Immutable.
class StepNetwork {
 public:
  /// Throws Unsupported for more than kMostStepRanks ranks, for ways through memory, and for ways
  /// of different rates: there units of one size do not take one time.
  explicit StepNetwork(const Ways& ways);

  std::uint32_t ranks() const { return ranks_; }
  RankSet all() const { return (RankSet{1} << ranks_) - 1; }
  /// No link holds back what the ports let go: any two ranks are alike.
  bool ports_only() const { return capacity_.empty(); }
  /// Of the links that may hold something back, those on the way.
  const std::vector<std::uint32_t>& links(std::uint32_t src, std::uint32_t dst) const {
    return links_[src * ranks_ + dst];
  }
  /// How many units such a link carries in a step, by link.
  const std::vector<std::uint32_t>& capacity() const { return capacity_; }
  /// The most units that come to a set of ranks from all others in a step. Of a set that is neither
  /// empty nor all.
  std::uint32_t inflow(RankSet into) const { return inflow_[into]; }
  /// Permutations of ranks after which the network is what it was: all, or some if there are many.
  std::vector<RankPermutation> symmetries() const;

 private:
  std::uint32_t most_into(RankSet into) const;

  std::uint32_t ranks_;
  std::vector<std::vector<std::uint32_t>> links_;  // by pair
  std::vector<std::uint32_t> capacity_;
  std::vector<std::uint32_t> inflow_;  // by set
};

/// What is sent in one step.
class StepLoad {
 public:
  explicit StepLoad(const StepNetwork& network)
      : network_(network), used_(network.capacity().size(), 0) {}

  /// Whether the links of the way have room. The ports are the caller's to look at.
  bool has_room(std::uint32_t src, std::uint32_t dst) const {
    for (const std::uint32_t link : network_.links(src, dst)) {
      if (used_[link] == network_.capacity()[link]) return false;
    }
    return true;
  }
  void add(std::uint32_t src, std::uint32_t dst) {
    for (const std::uint32_t link : network_.links(src, dst)) ++used_[link];
  }
  void remove(std::uint32_t src, std::uint32_t dst) {
    for (const std::uint32_t link : network_.links(src, dst)) --used_[link];
  }

 private:
  const StepNetwork& network_;
  std::vector<std::uint32_t> used_;  // by link
};

}  // namespace slackline::analysis
