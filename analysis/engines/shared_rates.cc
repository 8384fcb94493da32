#include "analysis/engines/shared_rates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"

namespace slackline::analysis {

using Rate = MaxMin::Rate;

namespace {

// So that sums of what a link carries, and of that and one more flow, are far from overflowing.
constexpr int kBits = 121;

// A sprayed message passes a link with a part of its bytes. So that passages stay whole numbers, a
// message counts as `parts` passages, and a link has so many times its capacity.

}  // namespace

SharedRates::SharedRates(const machine::Paths& paths, const machine::Wiring& wiring)
    : link_of_(wiring.links().size(), kNone), parts_(paths.common_parts()) {
  const auto used = static_cast<std::uint32_t>(paths.size());
  for (std::uint32_t p = 0; p < used; ++p) {
    for (const machine::LinkId link : paths.links(machine::PathId(p))) link_of_[link.value] = 0;
  }
  double most = 1;
  for (std::uint32_t l = 0; l < link_of_.size(); ++l) {
    if (link_of_[l] != kNone) most = std::max(most, wiring.links()[l].rate.bytes_per_second());
  }
  for (const machine::Paths::LinkChange& change : paths.link_changes()) {
    most = std::max(most, change.bytes_per_s);
  }
  for (std::uint32_t p = 0; p < used; ++p) {
    most = std::max(most, paths[machine::PathId(p)].pair_bytes_per_s);
  }
  fastest_ = most;
  unit_ = std::ldexp(1.0, std::ilogb(most) + 1 - kBits + std::bit_width(parts_ - 1));

  for (std::uint32_t l = 0; l < link_of_.size(); ++l) {
    if (link_of_[l] == kNone) continue;
    link_of_[l] = static_cast<std::uint32_t>(links_.size());
    const machine::Link& link = wiring.links()[l];
    links_.push_back({capacity(link.rate.bytes_per_second(), link.shared), link.shared});
  }
  std::map<machine::PairOnNics, std::uint32_t> rate_of_pair;  // a link
  for (std::uint32_t p = 0; p < used; ++p) {
    const machine::PathId id(p);
    Way way{static_cast<std::uint32_t>(hops_.size()), 0};
    // All that the pair has under way from one NIC to another shares its rate.
    if (paths[id].pair_bytes_per_s > 0 && !paths[id].local) {
      const auto [pair, is_first] = rate_of_pair.try_emplace(
          machine::pair_on_nics(paths[id]), static_cast<std::uint32_t>(links_.size()));
      if (is_first) links_.push_back({capacity(paths[id].pair_bytes_per_s, true), true});
      hops_.push_back({pair->second, parts_});
    }
    const auto passed = paths.links(id);
    for (std::size_t n = 0; n < passed.size(); ++n) {
      const std::uint32_t l = link_of_[passed[n].value];
      const std::uint32_t times = paths.parts(id, n) * (parts_ / paths[id].parts);
      const auto known = std::find_if(hops_.begin() + way.first_hop, hops_.end(),
                                      [&](const Hop& hop) { return hop.link == l; });
      if (known != hops_.end()) {
        known->times += times;
      } else {
        hops_.push_back({l, times});
      }
    }
    way.hop_count = static_cast<std::uint32_t>(hops_.size()) - way.first_hop;
    most_hops_ = std::max(most_hops_, way.hop_count);
    find_bound(way);
    ways_.push_back(way);
  }
}

Rate SharedRates::units(double bytes_per_s) const {
  const double units = bytes_per_s / unit_;
  if (!(units * parts_ < std::ldexp(1.0, kBits)))
    throw InternalError("a link faster than all that were told");
  return std::max<Rate>(1, static_cast<Rate>(std::nearbyint(units)));
}

// What a link has for passages; one that nobody shares gives each message its whole rate.
Rate SharedRates::capacity(double bytes_per_s, bool shared) const {
  return shared ? units(bytes_per_s) * parts_ : units(bytes_per_s);
}

void SharedRates::find_bound(Way& way) const {
  Rate bound = kNoLevel;
  for (const Hop& hop : hops(way)) {
    const Link& link = links_[hop.link];
    bound = std::min(bound, link.shared ? link.capacity / hop.times : link.capacity);
  }
  way.bound = std::max<Rate>(bound, 1);
  way.told = static_cast<double>(way.bound) * unit_;
}

void SharedRates::set_bound(Flow& flow) const {
  const Way& way = ways_[flow.path.value];
  const bool own = flow.most < way.bound;
  flow.bound = own ? flow.most : way.bound;
  flow.bound_told = own ? static_cast<double>(flow.most) * unit_ : way.told;
}

void SharedRates::change(std::uint32_t link) {
  if (links_[link].changed || links_[link].held.empty()) return;
  links_[link].changed = true;
  changed_.push_back(link);
}

void SharedRates::add(std::uint32_t slot, machine::PathId path, double most_bytes_per_s) {
  if (slot >= flows_.size()) {
    flows_.resize(slot + 1);
    places_.resize(flows_.size() * most_hops_);
  }
  Flow& flow = flows_[slot];
  flow = {path};
  flow.live = true;
  if (most_bytes_per_s < fastest_) flow.most = units(most_bytes_per_s);
  set_bound(flow);
  fresh_.push_back(slot);
  std::uint32_t* place = places(slot);
  std::uint32_t i = 0;
  for (const Hop& hop : hops(flow)) {
    Link& link = links_[hop.link];
    *place++ = static_cast<std::uint32_t>(link.users.size());
    link.users.push_back({slot, i++});
    change(hop.link);
  }
}

void SharedRates::remove(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  flow.live = false;
  release(slot);
  const std::uint32_t* place = places(slot);
  for (const Hop& hop : hops(flow)) {
    Link& link = links_[hop.link];
    const User moved = link.users.back();
    link.users[*place] = moved;
    places(moved.slot)[moved.hop] = *place++;
    link.users.pop_back();
    change(hop.link);
  }
  use(flow, -flow.rate);
}

// The flow has so much more of every link that it passes.
void SharedRates::use(const Flow& flow, Rate more) {
  for (const Hop& hop : hops(flow)) {
    Link& link = links_[hop.link];
    if (link.shared) link.used += hop.times * more;
  }
}

void SharedRates::set_capacity(machine::LinkId id, double bytes_per_s) {
  const std::uint32_t l = link_of_[id.value];
  if (l == kNone) return;
  links_[l].capacity = capacity(bytes_per_s, links_[l].shared);
  for (Way& way : ways_) {
    const auto passed = hops(way);
    if (std::ranges::any_of(passed, [&](const Hop& hop) { return hop.link == l; })) find_bound(way);
  }
  for (const User& user : links_[l].users) {
    Flow& flow = flows_[user.slot];
    set_bound(flow);
    fresh_.push_back(user.slot);
  }
}

void SharedRates::find_rates() {
  ++region_;
  touched_.clear();
  inside_.clear();
  for (const std::uint32_t l : changed_) {
    links_[l].changed = false;
    for (const User& user : links_[l].held) take(user.slot);
  }
  changed_.clear();
  for (const std::uint32_t slot : fresh_) {
    if (flows_[slot].live && !fits_alone(slot)) take(slot);
  }
  fresh_.clear();
  if (inside_.empty()) return;
  filling_.begin();
  passed_.clear();
  std::size_t joined = 0;
  do {
    for (; joined < inside_.size(); ++joined) join(inside_[joined]);
    filling_.solve();
  } while (widen());
  keep();
}

// The flow of the region comes into its filling. Those held back where it passes are most likely to
// get another rate, too.
void SharedRates::join(std::uint32_t slot) {
  const Flow& flow = flows_[slot];
  const Rate rate = flow.rate;
  const std::uint32_t bottleneck = flow.bottleneck;
  const std::span<const Hop> way = hops(flow);
  filling_.add_flow(flow.bound, static_cast<std::uint32_t>(way.size()));
  Link* const links = links_.data();
  for (const Hop& hop : way) {
    Link& link = links[hop.link];
    if (!link.shared) continue;
    if (link.region != region_) {
      link.region = region_;
      link.number = filling_.add_link(link.capacity - link.used, hop.link, link.full);
      passed_.push_back({hop.link});
      for (const User& user : link.held) take(user.slot);
    }
    filling_.pass(link.number, hop.times, hop.times * rate);
    if (bottleneck == hop.link) ++passed_[link.number].held_inside;
  }
}

// Most messages find all of their way free. Where a link holds others back, what it has to spare is
// theirs first: some may have left just now.
bool SharedRates::fits_alone(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  if (flow.rate != 0 || flow.region == region_) return false;
  for (const Hop& hop : hops(flow)) {
    const Link& link = links_[hop.link];
    if (!link.shared) continue;
    if (!link.held.empty() || link.used + hop.times * flow.bound > link.capacity) return false;
  }
  flow.rate = flow.bound;
  use(flow, flow.rate);
  touched_.push_back(slot);
  return true;
}

// Whether flows outside came into the region, which those inside do not leave what they had, or
// which would have more than they.
bool SharedRates::widen() {
  const std::size_t before = inside_.size();
  for (const Passed& passed : passed_) {
    const Link& link = links_[passed.link];
    if (passed.held_inside != link.held.size() && !stays_as_held(link)) {
      for (const User& user : link.held) take(user.slot);
    }
    const Rate most = filling_.most(link.number);
    if (filling_.held(link.number) != 0 && most < link.level) {
      for (const User& user : link.users) {
        if (flows_[user.slot].rate > most) take(user.slot);
      }
    }
  }
  return inside_.size() != before;
}

// Whether those outside that the link holds back have just what filling it anew would give them.
bool SharedRates::stays_as_held(const Link& link) const {
  const Rate most = filling_.most(link.number);
  Rate times = filling_.held(link.number);
  if (most > link.level || (times != 0 && most != link.level)) return false;
  for (const User& user : link.held) {
    const Flow& flow = flows_[user.slot];
    if (flow.region != region_) times += hops(flow)[user.hop].times;
  }
  const Rate left = filling_.left(link.number);
  return left >= 0 && left < times;
}

void SharedRates::keep() {
  for (std::uint32_t i = 0; i < inside_.size(); ++i) {
    const std::uint32_t slot = inside_[i];
    Flow& flow = flows_[slot];
    const std::uint32_t number = filling_.bottleneck(i);
    const std::uint32_t bottleneck = number == MaxMin::kNoLink ? kNone : passed_[number].link;
    if (bottleneck != flow.bottleneck) release(slot);
    if (flow.bottleneck == kNone && bottleneck != kNone) hold(slot, bottleneck);
    flow.rate = filling_.rate(i);
    touched_.push_back(slot);
  }
  for (const Passed& passed : passed_) {
    Link& link = links_[passed.link];
    link.used = link.capacity - filling_.left(link.number);
    link.full = filling_.is_full(link.number);
    if (filling_.held(link.number) == 0) continue;
    link.level = filling_.most(link.number);
    link.told = static_cast<double>(link.level) * unit_;
  }
}

void SharedRates::release(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  if (flow.bottleneck == kNone) return;
  Link& link = links_[flow.bottleneck];
  link.held[flow.held_at] = link.held.back();
  flows_[link.held.back().slot].held_at = flow.held_at;
  link.held.pop_back();
  if (link.held.empty()) link.level = kNoLevel;
  flow.bottleneck = kNone;
}

void SharedRates::hold(std::uint32_t slot, std::uint32_t link) {
  Flow& flow = flows_[slot];
  std::uint32_t hop = 0;
  while (hops(flow)[hop].link != link) ++hop;
  flow.bottleneck = link;
  flow.held_at = static_cast<std::uint32_t>(links_[link].held.size());
  links_[link].held.push_back({slot, hop});
}

void SharedRates::resume(const SharedRates& other) {
  links_ = other.links_;
  ways_ = other.ways_;
  flows_ = other.flows_;
  places_ = other.places_;
  changed_ = other.changed_;
  fresh_ = other.fresh_;
  region_ = other.region_;
}

}  // namespace slackline::analysis
