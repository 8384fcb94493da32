#include "machine/run/crowded_links.h"

#include <algorithm>

#include "machine/event_queue.h"

namespace slackline::machine {

CrowdedLinks::CrowdedLinks(const Setting& setting, const Paths& paths)
    : paths_(paths),
      wiring_(setting.wiring),
      has_nics_(setting.platform.topology.kind() != TopologyKind::kSimgridFile) {}

void CrowdedLinks::begin(double now_s, PathId path, std::uint64_t bytes) {
  const double end_s = paths_.sent_s(now_s, path, bytes);
  if (found_ || !(end_s > now_s)) return;
  on_link_.resize(wiring_.links().size());
  const auto links = paths_.links(path);
  // A NIC's link is its port; that of a switch carries what others send through the switch, too.
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

bool CrowdedLinks::is_crowded(LinkId link, double now_s) const {
  double demand = 0;
  for (const UnderWay& message : on_link_[link.value]) {
    if (message.end_s <= now_s + kInstant_s) continue;
    demand +=
        std::min(paths_.bytes_per_s(now_s, message.path), message.most_bytes_per_s) * message.share;
  }
  return demand > bytes_per_s(link, now_s) * (1 + 1e-9);
}

double CrowdedLinks::bytes_per_s(LinkId link, double now_s) const {
  double rate = wiring_.links()[link.value].rate.bytes_per_second();
  for (const Paths::LinkChange& change : paths_.link_changes()) {
    if (change.link == link && change.at_s <= now_s) rate = change.bytes_per_s;
  }
  return rate;
}

}  // namespace slackline::machine
