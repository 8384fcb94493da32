#include "analysis/synthesis/step_bounds.h"

#include <algorithm>
#include <array>

namespace slackline::analysis {
namespace {

std::uint32_t count_of(std::uint64_t set) { return static_cast<std::uint32_t>(std::popcount(set)); }

}  // namespace

std::uint32_t fewest_steps_left(const HoldingShape& shape, const StepNetwork& network,
                                Holding holding) {
  if (holding == shape.all()) return 0;
  const std::uint32_t n = shape.ranks();
  std::uint32_t least = 0;
  std::uint32_t lack = 0;     // of all ranks together
  std::uint32_t lacking = 0;  // ranks
  std::uint32_t able = 0;     // ranks that have something
  for (std::uint32_t r = 0; r < n; ++r) {
    const std::uint32_t has = count_of(shape.row(holding, r));
    const std::uint32_t missing = shape.units() - has;
    least = std::max(least, missing);
    lack += missing;
    lacking += missing != 0 ? 1 : 0;
    able += has != 0 ? 1 : 0;
  }
  std::array<std::uint32_t, kMostStepRanks> alone{};  // units that the rank alone has
  std::array<RankSet, 64> holders{};
  for (std::uint32_t u = 0; u < shape.units(); ++u) {
    holders[u] = shape.holders(holding, u);
    least = std::max(least, doublings(count_of(holders[u]), n));
    if (count_of(holders[u]) == 1) ++alone[std::countr_zero(holders[u])];
  }
  for (std::uint32_t r = 0; r < n; ++r) {
    if (alone[r] != 0 && n > 1) least = std::max(least, alone[r] + doublings(2, n));
  }
  for (RankSet into = 1; into < network.all(); ++into) {
    std::uint32_t missing = 0;
    for (std::uint32_t u = 0; u < shape.units(); ++u) {
      if ((holders[u] & into) == 0) ++missing;
    }
    if (missing == 0) continue;
    const std::uint32_t inflow = std::max(1u, network.inflow(into));
    least = std::max(least, (missing - 1) / inflow + 1);
  }
  std::uint32_t steps = 0;
  for (std::uint32_t came = 0; came < lack; ++steps) {
    const std::uint32_t now = std::min(able, lacking);
    came += now;
    able = std::min(n, able + now);
  }
  return std::max(least, steps);
}

}  // namespace slackline::analysis
