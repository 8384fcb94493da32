// Who has what while units spread in steps, and how many steps are needed at the least.
#pragma once

#include <bit>
#include <cstdint>

#include "analysis/synthesis/step_network.h"

namespace slackline::analysis {

/// Which rank has which unit, a bit for each: the units of rank 0, then those of rank 1, …
using Holding = std::uint64_t;

class HoldingShape {
 public:
  HoldingShape(std::uint32_t ranks, std::uint32_t units) : ranks_(ranks), units_(units) {}

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t units() const { return units_; }
  Holding bit(std::uint32_t rank, std::uint32_t unit) const {
    return Holding{1} << (rank * units_ + unit);
  }
  /// The units of a rank.
  Holding row(Holding holding, std::uint32_t rank) const {
    return holding >> (rank * units_) & every_unit();
  }
  Holding every_unit() const { return units_ == 64 ? ~Holding{0} : (Holding{1} << units_) - 1; }
  Holding all() const {
    const std::uint32_t bits = ranks_ * units_;
    return bits == 64 ? ~Holding{0} : (Holding{1} << bits) - 1;
  }
  RankSet holders(Holding holding, std::uint32_t unit) const {
    RankSet set = 0;
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      if ((holding & bit(r, unit)) != 0) set |= RankSet{1} << r;
    }
    return set;
  }

 private:
  std::uint32_t ranks_;
  std::uint32_t units_;
};

/// No moves bring every unit to every rank in fewer steps. The largest of: what a rank lacks; the
/// doublings until all have a unit; the units that one rank alone has, each of which it must send
/// in a step of its own, and the doublings of the last; what a set of ranks lacks as a whole, over
/// its inflow; and what all lack together, while those who can send at most double.
std::uint32_t fewest_steps_left(const HoldingShape& shape, const StepNetwork& network,
                                Holding holding);

/// The least number of times that `have` must double to be `of` or more; `have` ≥ 1.
inline std::uint32_t doublings(std::uint32_t have, std::uint32_t of) {
  return have >= of ? 0 : static_cast<std::uint32_t>(std::bit_width((of - 1) / have));
}

}  // namespace slackline::analysis
