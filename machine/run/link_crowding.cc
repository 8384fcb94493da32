#include "machine/run/link_crowding.h"

#include <algorithm>

#include "machine/event_queue.h"

namespace slackline::machine {

double link_bytes_per_s(const Wiring& wiring, const Paths& paths, LinkId link, double now_s) {
  double rate = wiring.links()[link.value].rate.bytes_per_second();
  for (const Paths::LinkChange& change : paths.link_changes()) {
    if (change.link == link && change.at_s <= now_s) rate = change.bytes_per_s;
  }
  return rate;
}

LinkCrowding::LinkCrowding(const Setting& setting, const Paths& paths, DrivenClock& clock)
    : paths_(paths),
      wiring_(setting.wiring),
      clock_(clock),
      has_nics_(setting.platform.topology.kind() != TopologyKind::kSimgridFile) {}

void LinkCrowding::transmit(double now_s, PathId path, std::uint64_t bytes, sched::OpId op) {
  clock_.transmit(now_s, path, bytes, op);
  const double end_s = paths_.sent_s(now_s, path, bytes);
  if (found_ || !(end_s > now_s)) return;
  on_link_.resize(wiring_.links().size());
  const auto links = paths_.links(path);
  const std::size_t first = has_nics_ && !paths_[path].from_switch ? 1 : 0;
  const std::size_t last = has_nics_ && !paths_[path].to_switch ? 1 : 0;
  for (std::size_t l = first; l + last < links.size(); ++l) {
    if (!wiring_.links()[links[l].value].shared) continue;
    std::vector<UnderWay>& there = on_link_[links[l].value];
    // What ends comes before what starts within an instant.
    std::erase_if(there, [&](const UnderWay& other) { return other.end_s <= now_s + kInstant_s; });
    there.push_back({path, end_s, paths_.share(path, l), paths_.most_bytes_per_s(path, bytes)});
    if (there.size() == 1) continue;
    found_ = found_ || is_crowded(links[l], now_s);
    for (const Paths::LinkChange& change : paths_.link_changes()) {
      if (change.at_s <= now_s || change.at_s >= end_s) continue;
      found_ = found_ || is_crowded(links[l], change.at_s);
    }
  }
}

bool LinkCrowding::is_crowded(LinkId link, double now_s) const {
  double demand = 0;
  for (const UnderWay& message : on_link_[link.value]) {
    if (message.end_s <= now_s + kInstant_s) continue;
    demand +=
        std::min(paths_.bytes_per_s(now_s, message.path), message.most_bytes_per_s) * message.share;
  }
  return demand > link_bytes_per_s(wiring_, paths_, link, now_s) * (1 + 1e-9);
}

}  // namespace slackline::machine
