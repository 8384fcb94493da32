#include "analysis/engines/flow_shares.h"

#include <algorithm>

namespace slackline::analysis {
namespace {

constexpr std::uint32_t kUnused = 0xffffffffu;

}  // namespace

FlowShares::FlowShares(const machine::Paths& paths, const machine::Wiring& wiring)
    : paths_(paths), link_of_(wiring.links().size(), kUnused) {
  const auto used = static_cast<std::uint32_t>(paths.size());
  for (std::uint32_t p = 0; p < used; ++p) {
    for (const machine::LinkId link : paths.links(machine::PathId(p))) link_of_[link.value] = 0;
  }
  for (std::uint32_t l = 0; l < link_of_.size(); ++l) {
    if (link_of_[l] == kUnused) continue;
    link_of_[l] = static_cast<std::uint32_t>(links_.size());
    const machine::Link& link = wiring.links()[l];
    links_.push_back({link.rate.bytes_per_second(), link.shared});
  }
  for (std::uint32_t p = 0; p < used; ++p) {
    const machine::PathId id(p);
    Way way{static_cast<std::uint32_t>(hops_.size()), 0};
    // All that the pair has under way shares its rate.
    if (paths[id].pair_bytes_per_s > 0 && !paths[id].local) {
      hops_.push_back({static_cast<std::uint32_t>(links_.size()), 1});
      links_.push_back({paths[id].pair_bytes_per_s, true});
    }
    for (const machine::LinkId link : paths.links(id)) {
      const std::uint32_t l = link_of_[link.value];
      const auto known = std::find_if(hops_.begin() + way.first_hop, hops_.end(),
                                      [&](const Hop& hop) { return hop.link == l; });
      if (known != hops_.end()) {
        ++known->times;
      } else {
        hops_.push_back({l, 1});
      }
    }
    way.hop_count = static_cast<std::uint32_t>(hops_.size()) - way.first_hop;
    most_hops_ = std::max(most_hops_, way.hop_count);
    ways_.push_back(way);
  }
}

double FlowShares::bound_of(const Flow& flow) const {
  double bound = kNever;
  for (const Hop& hop : hops(flow)) {
    const Link& link = links_[hop.link];
    bound = std::min(bound, link.shared ? link.capacity / hop.times : link.capacity);
  }
  return bound;
}

void FlowShares::change(std::uint32_t link) {
  if (links_[link].changed) return;
  links_[link].changed = true;
  changed_.push_back(link);
}

void FlowShares::start(double now_s, machine::PathId path, std::uint64_t bytes, sched::OpId op) {
  std::uint32_t slot;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
    reached_in_.push_back({0, 0});
    places_.resize(flows_.size() * most_hops_);
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[slot];
  flow.path = path;
  flow.op = op;
  flow.live = true;
  flow.bound = bound_of(flow);
  flow.rate = 0;
  flow.left = static_cast<double>(bytes);
  flow.since_s = now_s;
  fresh_.push_back(slot);
  std::uint32_t* place = places(slot);
  std::uint32_t i = 0;
  for (const Hop& hop : hops(flow)) {
    Link& link = links_[hop.link];
    *place++ = static_cast<std::uint32_t>(link.users.size());
    link.users.push_back({slot, i++});
    link.wanted += hop.times * flow.bound;
    change(hop.link);
  }
}

void FlowShares::remove(std::uint32_t slot) {
  Flow& flow = flows_[slot];
  flow.live = false;
  ends_.set(slot, kNever);
  free_.push_back(slot);
  const std::uint32_t* place = places(slot);
  for (const Hop& hop : hops(flow)) {
    Link& link = links_[hop.link];
    const User moved = link.users.back();
    link.users[*place] = moved;
    places(moved.slot)[moved.hop] = *place++;
    link.users.pop_back();
    link.wanted = link.users.empty() ? 0 : link.wanted - hop.times * flow.bound;
    change(hop.link);
  }
}

void FlowShares::set_rate(machine::LinkId id, double bytes_per_s) {
  const std::uint32_t l = link_of_[id.value];
  if (l == kUnused) return;
  links_[l].capacity = bytes_per_s;
  change(l);
  for (const User& user : links_[l].users) {
    Flow& flow = flows_[user.slot];
    const double bound = bound_of(flow);
    for (const Hop& hop : hops(flow)) {
      links_[hop.link].wanted += hop.times * (bound - flow.bound);
      change(hop.link);
    }
    flow.bound = bound;
    fresh_.push_back(user.slot);
  }
}

void FlowShares::settle(double now_s) {
  if (changed_.empty() && fresh_.empty()) return;
  ++round_;
  for (const std::uint32_t slot : fresh_) {
    if (flows_[slot].live) fill_from(now_s, slot);
  }
  fresh_.clear();
  for (const std::uint32_t l : changed_) {
    Link& link = links_[l];
    const bool scarce = is_scarce(link);
    if (scarce || link.was_scarce) {
      for (const User& user : link.users) fill_from(now_s, user.slot);
    }
    link.was_scarce = scarce;
    link.changed = false;
  }
  changed_.clear();
}

// The component of the flow gets new rates, once in a round.
void FlowShares::fill_from(double now_s, std::uint32_t slot) {
  if (reached_in_[slot].round == round_) return;
  reached_.clear();
  filling_.begin();
  reach(slot);
  bool alone = true;
  for (std::size_t i = 0; i < reached_.size(); ++i) {
    const Flow& flow = flows_[reached_[i]];
    filling_.add_flow(flow.bound);
    for (const Hop& hop : hops(flow)) {
      Link& link = links_[hop.link];
      if (!is_scarce(link)) continue;
      alone = false;
      if (link.seen != round_) {
        link.seen = round_;
        link.number = filling_.add_link(link.capacity, hop.link);
        for (const User& user : link.users) filling_.carry(reach(user.slot));
      }
      filling_.pass(link.number, hop.times);
    }
  }
  if (alone) return set_flow_rate(now_s, slot, flows_[slot].bound);
  filling_.solve();
  for (std::uint32_t i = 0; i < reached_.size(); ++i) {
    set_flow_rate(now_s, reached_[i], filling_.rate(i));
  }
}

// Answers the flow's number in the component.
std::uint32_t FlowShares::reach(std::uint32_t slot) {
  Reached& reached = reached_in_[slot];
  if (reached.round != round_) {
    reached = {round_, static_cast<std::uint32_t>(reached_.size())};
    reached_.push_back(slot);
  }
  return reached.number;
}

void FlowShares::set_flow_rate(double now_s, std::uint32_t slot, double rate) {
  Flow& flow = flows_[slot];
  if (flow.rate == rate) return;
  flow.left = std::max(0.0, flow.left - (now_s - flow.since_s) * flow.rate);
  flow.since_s = now_s;
  flow.rate = rate;
  ends_.set(slot, now_s + flow.left / rate);
}

std::vector<std::uint32_t> FlowShares::cut_by(double cut_s) const {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < flows_.size(); ++slot) {
    if (flows_[slot].live && paths_[flows_[slot].path].cut_s <= cut_s) slots.push_back(slot);
  }
  std::sort(slots.begin(), slots.end(),
            [&](std::uint32_t a, std::uint32_t b) { return flows_[a].op < flows_[b].op; });
  return slots;
}

void FlowShares::resume(const FlowShares& other) {
  links_ = other.links_;
  flows_ = other.flows_;
  reached_in_ = other.reached_in_;
  places_ = other.places_;
  free_ = other.free_;
  ends_ = other.ends_;
  changed_ = other.changed_;
  fresh_ = other.fresh_;
  round_ = other.round_;
}

// In order of their operations: none has two at a time.
std::vector<const FlowShares::Flow*> FlowShares::live() const {
  std::vector<const Flow*> flows;
  for (const Flow& flow : flows_) {
    if (flow.live) flows.push_back(&flow);
  }
  std::sort(flows.begin(), flows.end(), [](const Flow* a, const Flow* b) { return a->op < b->op; });
  return flows;
}

// What is known of a link follows from its users, but for its rate if that has changed.
bool FlowShares::goes_on_as(const FlowShares& other) const {
  if (flows_.size() - free_.size() != other.flows_.size() - other.free_.size()) return false;
  const std::vector<const Flow*> mine = live();
  const std::vector<const Flow*> its = other.live();
  return std::equal(mine.begin(), mine.end(), its.begin(), its.end(),
                    [](const Flow* a, const Flow* b) {
                      return a->op == b->op && a->path == b->path && a->rate == b->rate &&
                             a->left == b->left && a->since_s == b->since_s;
                    });
}

}  // namespace slackline::analysis
