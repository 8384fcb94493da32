#include "analysis/advice/bus_bandwidth.h"

#include "sched/pattern/pattern.h"

namespace slackline::analysis {

std::optional<double> bus_factor(std::string_view pattern, std::uint32_t ranks) {
  const sched::PatternEntry* const entry = sched::find_pattern(pattern);
  if (entry == nullptr) return std::nullopt;
  const double n = ranks;
  switch (entry->bus) {
    case sched::BusUse::kNone:
      return std::nullopt;
    case sched::BusUse::kOnce:
      return 1;
    case sched::BusUse::kAllToAll:
      return (n - 1) / n;
    case sched::BusUse::kThereAndBack:
      return 2 * (n - 1) / n;
  }
  return std::nullopt;
}

}  // namespace slackline::analysis
