#include "analysis/synthesis/ways.h"

#include <algorithm>

namespace slackline::analysis {

using sched::RankId;

Ways::Ways(const machine::Platform& platform, const machine::Wiring& wiring)
    : ranks_(wiring.rank_count()),
      overhead_s_(sched::seconds(platform.o_post) + sched::seconds(platform.o_complete)),
      post_more_s_(platform.node.post_more_s()),
      framing_(wiring.framing()),
      pcie_(wiring.pcie()),
      ways_(std::size_t{ranks_} * ranks_) {
  for (const machine::Link& link : wiring.links()) {
    link_bytes_per_s_.push_back(link.rate.bytes_per_second());
  }
  for (std::uint32_t s = 0; s < ranks_; ++s) {
    for (std::uint32_t d = 0; d < ranks_; ++d) {
      if (s == d) continue;
      const machine::Route route = wiring.route(RankId(s), RankId(d));
      Way& way = ways_[std::size_t{s} * ranks_ + d];
      way.latency_s = sched::seconds(route.latency);
      way.first_link = static_cast<std::uint32_t>(links_.size());
      if (route.local) {
        way.local = true;
        way.bytes_per_s = route.copy_rate.bytes_per_second();
        way.load_s_per_b = 1 / way.bytes_per_s;
        continue;
      }
      way.scale_up = route.scale_up;
      for (const machine::LinkId id : route.links) {
        const double rate = link_bytes_per_s_[id.value];
        way.bytes_per_s = way.bytes_per_s == 0 ? rate : std::min(way.bytes_per_s, rate);
        way.load_s_per_b += 1 / rate;
        const auto mine = links_.begin() + way.first_link;
        const bool known = std::find(mine, links_.end(), id.value) != links_.end();
        if (wiring.links()[id.value].shared && !known) links_.push_back(id.value);
      }
      way.link_count = static_cast<std::uint32_t>(links_.size()) - way.first_link;
    }
  }
}

Ways Ways::backwards() const {
  Ways other = *this;
  for (std::uint32_t s = 0; s < ranks_; ++s) {
    for (std::uint32_t d = 0; d < ranks_; ++d) {
      other.ways_[std::size_t{s} * ranks_ + d] = of(RankId(d), RankId(s));
    }
  }
  return other;
}

}  // namespace slackline::analysis
