#include "analysis/synthesis/spreading.h"

namespace slackline::analysis {

bool spreads(const Spreading& task, const Moves& moves) {
  std::vector<bool> has(std::size_t{task.ranks} * task.units());
  const auto at = [&](sched::RankId rank, std::uint32_t unit) {
    return has[std::size_t{rank.value} * task.units() + unit];
  };
  for (std::uint32_t u = 0; u < task.units(); ++u) at(task.owner[u], u) = true;
  std::size_t came = 0;
  for (const Move& move : moves) {
    for (const std::uint32_t unit : move.units) {
      if (!at(move.src, unit) || at(move.dst, unit)) return false;
      at(move.dst, unit) = true;
      ++came;
    }
  }
  return came == std::size_t{task.ranks - 1} * task.units();
}

}  // namespace slackline::analysis
