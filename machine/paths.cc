#include "machine/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "machine/input_text.h"
#include "machine/setting.h"

namespace slackline::machine {
namespace {

LinkId link_named(const Wiring& wiring, const std::string& name) {
  const auto link = wiring.find_link(name);
  if (link) return *link;
  const auto links = wiring.links();
  throw InputError(
      fmt::format("delay plan: the platform has no link {}; expected one of {} such as {}",
                  in_quotes(name), links.size(), links.empty() ? "none" : links.back().name));
}

}  // namespace

std::vector<ChannelNumber> numbers_between_ranks(const sched::Schedule& schedule,
                                                 const Wiring& wiring) {
  std::vector<ChannelNumber> numbers(schedule.channels().size());
  const std::vector<std::uint32_t> rails = numbers_for_rails(schedule, wiring.node().rails);
  for (std::uint32_t c = 0; c < numbers.size(); ++c) numbers[c].rail = rails[c];
  if (!wiring.is_by_channel()) return numbers;
  std::map<std::pair<sched::RankId, sched::RankId>, std::uint32_t> next;
  for (std::uint32_t c = 0; c < numbers.size(); ++c) {
    const sched::Channel& channel = schedule.channels()[c];
    numbers[c].way = next[{channel.src, channel.dst}]++;
  }
  return numbers;
}

Paths::Paths(const sched::Schedule& schedule, const Wiring& wiring, const DelayPlan& plan)
    : framing_(wiring.framing()),
      pcie_(wiring.pcie()),
      nic_count_(wiring.nic_count()),
      adaptive_(wiring.is_adaptive()),
      link_count_(wiring.links().size()) {
  read_changes(wiring, plan);
  read_failures(wiring, plan);
  // Channels come by the hundred thousand, pairs of ranks do not.
  std::map<std::tuple<sched::RankId, sched::RankId, ChannelNumber>, PathId> known;
  const auto path_of = [&](sched::RankId src, sched::RankId dst, ChannelNumber channel) {
    const auto [entry, fresh] = known.try_emplace({src, dst, channel});
    if (fresh) entry->second = add_ways(src, dst, channel, wiring, plan);
    return entry->second;
  };
  const std::vector<ChannelNumber> numbers = numbers_between_ranks(schedule, wiring);
  of_channel_.reserve(2 * schedule.channels().size());
  for (std::uint32_t c = 0; c < schedule.channels().size(); ++c) {
    const sched::Channel& channel = schedule.channels()[c];
    of_channel_.push_back(path_of(channel.src, channel.dst, numbers[c]));
    of_channel_.push_back(path_of(channel.dst, channel.src, numbers[c]));
  }
  put_in_brief();
  for (const Path& path : paths_) {
    if (path.cut_s < std::numeric_limits<double>::infinity()) cuts_s_.push_back(path.cut_s);
  }
  std::sort(cuts_s_.begin(), cuts_s_.end());
  cuts_s_.erase(std::unique(cuts_s_.begin(), cuts_s_.end()), cuts_s_.end());
}

// A path whose rate changes is like itself alone.
void Paths::put_in_brief() {
  const auto figures = [](const Path& p) {
    return std::tuple(p.from_switch, p.to_switch, p.local, p.scale_up, p.passes_pcie, p.latency_s,
                      p.bytes_per_s, p.pair_bytes_per_s, p.cut_s);
  };
  std::map<decltype(figures(Path())), PathId> known;
  PathId last;
  in_brief_.reserve(paths_.size());
  for (std::uint32_t i = 0; i < paths_.size(); ++i) {
    const Path& path = paths_[i];
    PathId like(i);
    if (path.change_count == 0) {
      const bool again = last.valid() && figures(paths_[last.value]) == figures(path);
      like = again ? last : known.try_emplace(figures(path), like).first->second;
      last = like;
    }
    in_brief_.push_back({path.src_nic, path.dst_nic, like});
  }
}

Paths::Paths(const Setting& setting) : Paths(setting.schedule, setting.wiring, setting.delays) {}

void Paths::read_changes(const Wiring& wiring, const DelayPlan& plan) {
  for (const LinkRate& rate : plan.link_rates) {
    const LinkId link = link_named(wiring, rate.link);
    if (rate.rate.bits_per_second == 0) {
      throw InputError(fmt::format("delay plan: link {}: a rate of 0; expected one above 0",
                                   in_quotes(rate.link)));
    }
    link_changes_.push_back({link, sched::seconds(rate.at), rate.rate.bytes_per_second()});
  }
  const auto order = [](const LinkChange& a, const LinkChange& b) {
    return std::tuple(a.link, a.at_s) < std::tuple(b.link, b.at_s);
  };
  std::sort(link_changes_.begin(), link_changes_.end(), order);
  const auto twice =
      std::adjacent_find(link_changes_.begin(), link_changes_.end(),
                         [&](const LinkChange& a, const LinkChange& b) { return !order(a, b); });
  if (twice != link_changes_.end()) {
    throw InputError(
        fmt::format("delay plan: link {} has two rates from the same moment on; expected one",
                    in_quotes(wiring.links()[twice->link.value].name)));
  }
}

void Paths::read_failures(const Wiring& wiring, const DelayPlan& plan) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  for (const Failure& failure : plan.failures) {
    may_fail_ = true;
    const double at_s = sched::seconds(failure.at);
    if (!failure.link.empty()) {
      if (adaptive_) {
        throw Unsupported(fmt::format(
            "delay plan: failure of link {}: with routing=adaptive the messages would choose ways "
            "round it, which is not modelled; expected another routing",
            in_quotes(failure.link)));
      }
      link_gone_s_.resize(wiring.links().size(), kNever);
      double& gone_s = link_gone_s_[link_named(wiring, failure.link).value];
      gone_s = std::min(gone_s, at_s);
      continue;
    }
    if (failure.rank.value >= wiring.rank_count()) {
      throw InputError(fmt::format("delay plan: failure: rank {} does not exist; expected 0 to {}",
                                   failure.rank.value, wiring.rank_count() - 1));
    }
    gone_s_.resize(wiring.rank_count(), kNever);
    // With everybody who is on it.
    const std::uint32_t first = wiring.node().first(failure.rank).value;
    const std::uint32_t past = std::min(wiring.rank_count(), first + wiring.node().ranks);
    for (std::uint32_t r = first; r < past; ++r) gone_s_[r] = std::min(gone_s_[r], at_s);
  }
}

// The first of the equal ways, with which the others stand.
PathId Paths::add_ways(sched::RankId src, sched::RankId dst, ChannelNumber channel,
                       const Wiring& wiring, const DelayPlan& plan) {
  const PathId first = add(src, dst, channel, wiring, plan);
  const std::uint32_t ways = wiring.way_count(src, dst, channel);
  for (std::uint32_t way = 1; way < ways; ++way) {
    add(src, dst, {way, channel.rail}, wiring, plan);
  }
  paths_[first.value].ways = ways;
  return first;
}

PathId Paths::add(sched::RankId src, sched::RankId dst, ChannelNumber channel, const Wiring& wiring,
                  const DelayPlan& plan) {
  const Route route = wiring.route(src, dst, channel);
  Path path;
  path.src = src;
  path.dst = dst;
  path.src_nic = wiring.source_nic(src, dst, channel, route);
  path.dst_nic = wiring.destination_nic(src, dst, channel, route);
  path.from_switch = wiring.is_switch(src);
  path.to_switch = wiring.is_switch(dst);
  path.local = route.local;
  path.scale_up = route.scale_up;
  path.passes_pcie =
      pcie_.limits() && !path.passes_no_nic() && !(path.from_switch && path.to_switch);
  path.latency_s = sched::seconds(route.latency);
  path.first_link = static_cast<std::uint32_t>(links_.size());
  path.link_count = static_cast<std::uint32_t>(route.links.size());
  links_.insert(links_.end(), route.links.begin(), route.links.end());
  path.parts = route.parts;
  parts_.insert(parts_.end(), route.parts_on.begin(), route.parts_on.end());
  parts_.resize(links_.size(), route.parts);
  common_parts_ = std::lcm(common_parts_, route.parts);
  const auto pair = std::find_if(plan.pairs.begin(), plan.pairs.end(),
                                 [&](const PairRate& p) { return p.src == src && p.dst == dst; });
  if (pair != plan.pairs.end()) path.pair_bytes_per_s = pair->rate.bytes_per_second();
  double most_bytes_per_s = std::numeric_limits<double>::infinity();
  if (path.pair_bytes_per_s > 0) most_bytes_per_s = path.pair_bytes_per_s;
  if (path.local) {
    most_bytes_per_s = std::min(most_bytes_per_s, route.copy_rate.bytes_per_second());
  }
  add_changes(path, wiring, most_bytes_per_s);
  path.cut_s = std::min(gone_s(src), gone_s(dst));
  if (!link_gone_s_.empty()) {
    for (const LinkId link : route.links) {
      path.cut_s = std::min(path.cut_s, link_gone_s_[link.value]);
    }
  }
  paths_.push_back(path);
  return PathId(static_cast<std::uint32_t>(paths_.size() - 1));
}

// The least of its links' rates (of a shared link that it passes twice it has half, of one that
// half of it passes it has twice), at the start and at every moment that one of them changes.
void Paths::add_changes(Path& path, const Wiring& wiring, double most_bytes_per_s) {
  const std::span<const LinkId> links = std::span(links_).last(path.link_count);
  const std::span<const std::uint32_t> parts = std::span(parts_).last(path.link_count);
  const auto changes_of = [&](LinkId link) {
    return std::equal_range(
        link_changes_.begin(), link_changes_.end(), LinkChange{link, 0, 0},
        [](const LinkChange& a, const LinkChange& b) { return a.link < b.link; });
  };
  std::vector<double> moments{0};
  for (const LinkId link : links) {
    const auto [first, last] = changes_of(link);
    for (auto change = first; change != last; ++change) moments.push_back(change->at_s);
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  path.first_change = static_cast<std::uint32_t>(changes_.size());
  double current = 0;
  for (const double moment : moments) {
    double slowest = most_bytes_per_s;
    for (const LinkId link : links) {
      double rate = wiring.links()[link.value].rate.bytes_per_second();
      const auto [first, last] = changes_of(link);
      for (auto change = first; change != last && change->at_s <= moment; ++change) {
        rate = change->bytes_per_s;
      }
      std::uint32_t passing = 0;
      for (std::size_t l = 0; l < links.size(); ++l) {
        if (links[l] == link) passing += parts[l];
      }
      if (wiring.links()[link.value].shared) rate /= static_cast<double>(passing) / path.parts;
      slowest = std::min(slowest, rate);
    }
    if (moment == 0) {
      path.bytes_per_s = slowest;
    } else if (slowest != current) {
      changes_.push_back({moment, slowest});
    }
    current = slowest;
  }
  path.change_count = static_cast<std::uint32_t>(changes_.size()) - path.first_change;
}

double Paths::sent_with_changes_s(double now_s, const Path& path, double wire_bytes,
                                  double most_bytes_per_s) const {
  double left = wire_bytes;
  double rate = std::min(path.bytes_per_s, most_bytes_per_s);
  for (const RateChange& change :
       std::span(changes_).subspan(path.first_change, path.change_count)) {
    if (change.at_s > now_s) {
      const double could = (change.at_s - now_s) * rate;
      if (could >= left) break;
      left -= could;
      now_s = change.at_s;
    }
    rate = std::min(change.bytes_per_s, most_bytes_per_s);
  }
  return now_s + left / rate;
}

}  // namespace slackline::machine
