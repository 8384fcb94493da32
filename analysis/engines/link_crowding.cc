#include "analysis/engines/link_crowding.h"

#include "machine/event_queue.h"

namespace slackline::analysis {

LinkCrowding::LinkCrowding(const machine::Setting& setting, const machine::Paths& paths)
    : paths_(paths),
      wiring_(setting.wiring),
      has_nics_(setting.platform.topology.kind() != machine::TopologyKind::kSimgridFile) {}

void LinkCrowding::begin(machine::PathId path, std::uint64_t bytes, double begin_s, double end_s) {
  if (found_ || !(end_s > begin_s)) return;
  on_link_.resize(wiring_.links().size());
  const double bytes_per_s = paths_.wire_bytes(path, bytes) / (end_s - begin_s);
  const auto links = paths_.links(path);
  const std::size_t first = has_nics_ && !paths_[path].from_switch ? 1 : 0;
  const std::size_t last = has_nics_ && !paths_[path].to_switch ? 1 : 0;
  for (std::size_t l = first; l + last < links.size(); ++l) {
    const machine::Link& link = wiring_.links()[links[l].value];
    if (!link.shared) continue;
    std::vector<UnderWay>& there = on_link_[links[l].value];
    // What ends comes before what starts within an instant.
    std::erase_if(there, [&](const UnderWay& other) {
      return other.end_s <= begin_s + machine::kInstant_s;
    });
    there.push_back({end_s, bytes_per_s * paths_.share(path, l)});
    double demand = 0;
    for (const UnderWay& other : there) demand += other.bytes_per_s;
    if (demand > link.rate.bytes_per_second() * (1 + 1e-9)) found_ = true;
  }
}

}  // namespace slackline::analysis
