#include "analysis/slack/link_upgrades.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/in_threads.h"
#include "base/error.h"
#include "machine/paths.h"

namespace slackline::analysis {
namespace {

using machine::LinkId;
using sched::RankId;
using sched::Time;

constexpr Time kNearer{10'000};

// The links and the ways of a schedule's messages, to be changed.
class Network {
 public:
  explicit Network(const machine::Setting& setting)
      : wiring_(setting.wiring), links_(wiring_.links().begin(), wiring_.links().end()) {
    const auto channels = setting.schedule.channels();
    const std::vector<machine::ChannelNumber> numbers =
        machine::numbers_between_ranks(setting.schedule, wiring_);
    std::set<std::tuple<RankId, RankId, machine::ChannelNumber>> known;
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
      for (const auto& [src, dst] : {std::pair(channels[c].src, channels[c].dst),
                                     std::pair(channels[c].dst, channels[c].src)}) {
        if (!known.emplace(src, dst, numbers[c]).second) continue;
        // Of equal ways all: which of them a message takes shows in its run.
        const std::uint32_t ways = wiring_.way_count(src, dst, numbers[c]);
        for (std::uint32_t way = 0; way < ways; ++way) {
          machine::ChannelNumber number = numbers[c];
          if (wiring_.is_adaptive()) number.way = way;
          routes_.push_back({src, dst, wiring_.route(src, dst, number), number});
        }
      }
    }
  }

  std::vector<LinkId> passed() const {
    std::vector<bool> is_passed(links_.size());
    for (const auto& fixed : routes_) {
      for (const LinkId link : fixed.route.links) is_passed[link.value] = true;
    }
    std::vector<LinkId> passed;
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      if (is_passed[l]) passed.emplace_back(l);
    }
    return passed;
  }

  // What can be taken from the latency of each way over the link.
  Time most_nearer(LinkId link) const {
    Time most = kNearer;
    for (const auto& fixed : routes_) {
      if (passes(fixed.route, link)) most = std::min(most, fixed.route.latency);
    }
    return most;
  }

  machine::Wiring as_it_is() const { return wiring_.with(links_, routes_); }
  machine::Wiring with_rate(LinkId link, std::uint64_t percent) const {
    std::vector<machine::Link> links = links_;
    std::uint64_t& rate = links[link.value].rate.bits_per_second;
    // Rounded up, so that more is more; without overflow.
    rate = rate / 100 * percent + (rate % 100 * percent + 99) / 100;
    return wiring_.with(std::move(links), routes_);
  }
  machine::Wiring nearer(LinkId link, Time by) const {
    std::vector<machine::Wiring::FixedRoute> routes = routes_;
    for (auto& fixed : routes) {
      if (passes(fixed.route, link)) fixed.route.latency -= by;
    }
    return wiring_.with(links_, std::move(routes));
  }

 private:
  static bool passes(const machine::Route& route, LinkId link) {
    return std::find(route.links.begin(), route.links.end(), link) != route.links.end();
  }

  const machine::Wiring& wiring_;
  std::vector<machine::Link> links_;
  std::vector<machine::Wiring::FixedRoute> routes_;
};

}  // namespace

LinkUpgrades link_upgrades(const machine::Setting& setting, const machine::Engine& engine,
                           std::uint32_t jobs) {
  if (setting.wiring.is_adaptive() && setting.schedule.has_bundles()) {
    throw Unsupported(
        "what a better link saves: routing=adaptive and channels that gather messages; expected "
        "one "
        "of them");
  }
  const Network network(setting);
  const auto makespan_s = [&](const machine::Wiring& changed) {
    return engine.run({setting.schedule, setting.platform, changed, setting.delays, setting.order})
        .makespan_s();
  };
  LinkUpgrades found;
  found.makespan_s = makespan_s(network.as_it_is());
  if (!std::isfinite(found.makespan_s)) {
    throw InputError("the run never ends; expected one that does");
  }
  for (const LinkId link : network.passed()) {
    LinkUpgrade upgrade;
    upgrade.link = link;
    upgrade.nearer = network.most_nearer(link);
    found.links.push_back(upgrade);
  }
  constexpr std::uint32_t kRuns = 4;
  const auto work = [&](std::uint32_t run) {
    LinkUpgrade& upgrade = found.links[run / kRuns];
    switch (run % kRuns) {
      case 0:
        upgrade.faster_s = makespan_s(network.with_rate(upgrade.link, 101));
        break;
      case 1:
        upgrade.twice_s = makespan_s(network.with_rate(upgrade.link, 200));
        break;
      case 2:
        upgrade.slower_s = makespan_s(network.with_rate(upgrade.link, 99));
        break;
      default:
        upgrade.nearer_s = makespan_s(network.nearer(upgrade.link, upgrade.nearer));
    }
  };
  in_threads(kRuns * static_cast<std::uint32_t>(found.links.size()), jobs, work);
  return found;
}

}  // namespace slackline::analysis
