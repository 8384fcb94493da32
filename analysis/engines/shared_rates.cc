#include "analysis/engines/shared_rates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace slackline::analysis {

using Rate = MaxMin::Rate;

namespace {

// So that sums of what a link carries, and of that and one more flow, are far from overflowing.
constexpr int kBits = 121;

// A sprayed message passes a link with a part of its bytes. So that passages stay whole numbers, a
// message counts as `parts` passages, and a link has so many times its capacity.

// Of every link of the wiring, whether all paths that pass it leave one NIC, or all reach one.
std::vector<bool> links_of_one_port(const machine::Paths& paths, std::size_t link_count) {
  const machine::NicId none = machine::NicId::none();
  std::vector<machine::NicId> src(link_count, none);
  std::vector<machine::NicId> dst(link_count, none);
  std::vector<bool> several_src(link_count), several_dst(link_count);
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    const machine::Path& path = paths[machine::PathId(p)];
    for (const machine::LinkId link : paths.links(machine::PathId(p))) {
      const std::uint32_t l = link.value;
      if (src[l] == none) std::tie(src[l], dst[l]) = std::tie(path.src_nic, path.dst_nic);
      if (src[l] != path.src_nic) several_src[l] = true;
      if (dst[l] != path.dst_nic) several_dst[l] = true;
    }
  }
  std::vector<bool> one(link_count);
  for (std::size_t l = 0; l < link_count; ++l) one[l] = !several_src[l] || !several_dst[l];
  return one;
}

}  // namespace

SharedRates::SharedRates(const machine::Paths& paths, const machine::Wiring& wiring,
                         machine::NicDiscipline nic)
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
    links_.push_back(
        {.capacity = capacity(link.rate.bytes_per_second(), link.shared), .shared = link.shared});
  }
  // A link whose rate changes is kept, since what passes it gets another rate then.
  const bool one_at_a_time = nic == machine::NicDiscipline::kSerial && paths.link_changes().empty();
  std::vector<bool> never_fills(links_.size(), false);
  if (one_at_a_time) {
    const std::vector<bool> of_one_port = links_of_one_port(paths, link_of_.size());
    for (std::uint32_t l = 0; l < link_of_.size(); ++l) {
      if (link_of_[l] != kNone) never_fills[link_of_[l]] = of_one_port[l];
    }
  }
  std::map<machine::PairOnNics, std::uint32_t> rate_of_pair;  // a link
  for (std::uint32_t p = 0; p < used; ++p) {
    const machine::PathId id(p);
    Way way{static_cast<std::uint32_t>(hops_.size()), 0};
    // All that the pair has under way from one NIC to another shares its rate.
    if (paths[id].pair_bytes_per_s > 0 && !paths[id].local) {
      const auto [pair, is_first] = rate_of_pair.try_emplace(
          machine::pair_on_nics(paths[id]), static_cast<std::uint32_t>(links_.size()));
      if (is_first) {
        links_.push_back({.capacity = capacity(paths[id].pair_bytes_per_s, true), .shared = true});
        never_fills.push_back(one_at_a_time);
      }
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
    find_bound(way);
    const auto kept = std::remove_if(hops_.begin() + way.first_hop, hops_.end(),
                                     [&](const Hop& hop) { return never_fills[hop.link]; });
    hops_.erase(kept, hops_.end());
    way.hop_count = static_cast<std::uint32_t>(hops_.size()) - way.first_hop;
    most_hops_ = std::max(most_hops_, way.hop_count);
    ways_.push_back(way);
  }
  crowds_.resize(links_.size());
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

void SharedRates::find_bound(Way& way) {
  Rate bound = kNoLevel;
  for (const Hop& hop : hops(way)) {
    const Link& link = links_[hop.link];
    bound = std::min(bound, link.shared ? link.capacity / hop.times : link.capacity);
  }
  bound = std::max<Rate>(bound, 1);
  const auto [entry, fresh] =
      bound_of_.try_emplace(bound, static_cast<std::uint32_t>(bounds_.size()));
  if (fresh) bounds_.push_back({bound, static_cast<double>(bound) * unit_});
  way.bound = entry->second;
}

void SharedRates::set_bound(Flow& flow) const {
  const Bound& way = bounds_[ways_[flow.path.value].bound];
  const bool own = flow.most < way.rate;
  flow.bound = own ? flow.most : way.rate;
  flow.bound_told = own ? static_cast<double>(flow.most) * unit_ : way.told;
}

void SharedRates::change(std::uint32_t link) {
  if (links_[link].changed || links_[link].holds == 0) return;
  links_[link].changed = true;
  changed_.push_back(link);
}

void SharedRates::add(std::uint32_t slot, machine::PathId path, double most_bytes_per_s) {
  if (slot >= flows_.size()) {
    flows_.resize(slot + 1);
    passes_.resize(flows_.size() * most_hops_);
  }
  const std::span<const Hop> way = hops(ways_[path.value]);
  Flow& flow = flows_[slot];
  flow = {};
  flow.path = path;
  flow.hop_count = static_cast<std::uint32_t>(way.size());
  flow.live = true;
  if (most_bytes_per_s < fastest_) flow.most = units(most_bytes_per_s);
  set_bound(flow);
  fresh_.push_back(slot);
  const std::span<Pass> own = passes(slot);
  for (std::size_t i = 0; i < way.size(); ++i) own[i] = {way[i].link, way[i].times, 0};
  if (users_kept_) join_users(slot);
}

// The flow is one of the users of each link that it passes.
void SharedRates::join_users(std::uint32_t slot) {
  const std::span<Pass> own = passes(slot);
  for (std::uint32_t i = 0; i < own.size(); ++i) {
    FirstFew<User, 4>& users = crowds_[own[i].link].users;
    own[i].place = users.size();
    users.push_back({slot, i});
    change(own[i].link);
  }
}

// From now on. Until then no link held anybody back, so that none has changed what it gives.
void SharedRates::keep_users() {
  if (users_kept_) return;
  users_kept_ = true;
  for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
    if (flows_[slot].live) join_users(slot);
  }
}

void SharedRates::remove(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  flow.live = false;
  if (users_kept_) leave_users(slot);
  use(passes(slot), -flow.rate);
}

void SharedRates::leave_users(std::uint32_t slot) {
  release(slot);
  for (const Pass& pass : passes(slot)) {
    FirstFew<User, 4>& users = crowds_[pass.link].users;
    const User moved = users.back();
    users[pass.place] = moved;
    passes(moved.slot)[moved.hop].place = pass.place;
    users.pop_back();
    change(pass.link);
  }
}

// A flow has so much more of links that it passes.
void SharedRates::use(std::span<const Pass> way, Rate more) {
  for (const Pass& pass : way) {
    Link& link = links_[pass.link];
    if (link.shared) link.used += pass.times * more;
  }
}

void SharedRates::set_capacity(machine::LinkId id, double bytes_per_s) {
  const std::uint32_t l = link_of_[id.value];
  if (l == kNone) return;
  keep_users();
  links_[l].capacity = capacity(bytes_per_s, links_[l].shared);
  for (Way& way : ways_) {
    const auto passed = hops(way);
    if (std::ranges::any_of(passed, [&](const Hop& hop) { return hop.link == l; })) find_bound(way);
  }
  crowds_[l].users.each([&](const User& user) {
    set_bound(flows_[user.slot]);
    fresh_.push_back(user.slot);
  });
}

void SharedRates::find_rates() {
  ++region_;
  touched_.clear();
  inside_.clear();
  for (const std::uint32_t l : changed_) {
    links_[l].changed = false;
    for (const User& user : crowds_[l].held) take(user.slot);
  }
  changed_.clear();
  for (const std::uint32_t slot : fresh_) {
    if (flows_[slot].live && !fits_alone(slot)) take(slot);
  }
  fresh_.clear();
  if (inside_.empty()) return;
  keep_users();
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
  filling_.add_flow(flow.bound, flow.hop_count);
  Link* const links = links_.data();
  for (const Pass& hop : passes(slot)) {
    Link& link = links[hop.link];
    if (!link.shared) continue;
    if (link.region != region_) {
      link.region = region_;
      link.number = filling_.add_link(link.capacity - link.used, hop.link, link.full);
      passed_.push_back({hop.link});
      if (link.holds != 0) {
        for (const User& user : crowds_[hop.link].held) take(user.slot);
      }
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
  const std::span<const Pass> way = passes(slot);
  for (std::size_t n = 0; n < way.size(); ++n) {
    Link& link = links_[way[n].link];
    if (!link.shared) continue;
    const Rate more = way[n].times * flow.bound;
    if (link.holds != 0 || link.used + more > link.capacity) {
      use(way.first(n), -flow.bound);
      return false;
    }
    link.used += more;
  }
  flow.rate = flow.bound;
  touched_.push_back(slot);
  return true;
}

// Whether flows outside came into the region, which those inside do not leave what they had, or
// which would have more than they.
bool SharedRates::widen() {
  const std::size_t before = inside_.size();
  for (const Passed& passed : passed_) {
    const Link& link = links_[passed.link];
    if (passed.held_inside != link.holds && !stays_as_held(passed.link)) {
      for (const User& user : crowds_[passed.link].held) take(user.slot);
    }
    if (filling_.held(link.number) == 0) continue;
    const Rate most = filling_.most(link.number);
    const Crowd& crowd = crowds_[passed.link];
    if (most >= crowd.level) continue;
    crowd.users.each([&](const User& user) {
      if (flows_[user.slot].rate > most) take(user.slot);
    });
  }
  return inside_.size() != before;
}

// Whether those outside that the link holds back have just what filling it anew would give them.
bool SharedRates::stays_as_held(std::uint32_t number) const {
  const Link& link = links_[number];
  const Crowd& crowd = crowds_[number];
  const Rate most = filling_.most(link.number);
  Rate times = filling_.held(link.number);
  if (most > crowd.level || (times != 0 && most != crowd.level)) return false;
  for (const User& user : crowd.held) {
    if (flows_[user.slot].region != region_) times += passes(user.slot)[user.hop].times;
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
    Crowd& crowd = crowds_[passed.link];
    crowd.level = filling_.most(link.number);
    crowd.told = static_cast<double>(crowd.level) * unit_;
  }
}

void SharedRates::release(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  if (flow.bottleneck == kNone) return;
  Crowd& crowd = crowds_[flow.bottleneck];
  crowd.held[flow.held_at] = crowd.held.back();
  flows_[crowd.held.back().slot].held_at = flow.held_at;
  crowd.held.pop_back();
  if (crowd.held.empty()) crowd.level = kNoLevel;
  --links_[flow.bottleneck].holds;
  flow.bottleneck = kNone;
}

void SharedRates::hold(std::uint32_t slot, std::uint32_t link) {
  Flow& flow = flows_[slot];
  const std::span<const Pass> way = passes(slot);
  std::uint32_t hop = 0;
  while (way[hop].link != link) ++hop;
  flow.bottleneck = link;
  flow.held_at = links_[link].holds++;
  crowds_[link].held.push_back({slot, hop});
}

void SharedRates::resume(const SharedRates& other) {
  links_ = other.links_;
  crowds_ = other.crowds_;
  users_kept_ = other.users_kept_;
  ways_ = other.ways_;
  bounds_ = other.bounds_;
  bound_of_ = other.bound_of_;
  flows_ = other.flows_;
  passes_ = other.passes_;
  changed_ = other.changed_;
  fresh_ = other.fresh_;
  region_ = other.region_;
}

}  // namespace slackline::analysis
