#include "analysis/slack/may_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace slackline::analysis {
namespace {

// What may come over a link by one path: one message at a time of a serial NIC's, or all of them.
struct Demand {
  std::uint32_t sender;
  std::uint32_t receiver;
  double bytes_per_s;
  std::uint64_t messages = 1;
};

// Of those that may be on a link at a time.
struct Together {
  std::uint64_t count = 0;
  double bytes_per_s = 0;
};

// If only one of each sender, or of each receiver, can be there: the fastest.
Together one_of_each(std::vector<Demand>& demands, std::uint32_t Demand::*end) {
  std::sort(demands.begin(), demands.end(), [&](const Demand& a, const Demand& b) {
    return std::tuple(a.*end, -a.bytes_per_s) < std::tuple(b.*end, -b.bytes_per_s);
  });
  Together most;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (i != 0 && demands[i].*end == demands[i - 1].*end) continue;
    ++most.count;
    most.bytes_per_s += demands[i].bytes_per_s;
  }
  return most;
}

Together most_at_a_time(std::vector<Demand>& demands, bool one_per_nic) {
  if (!one_per_nic) {
    Together all;
    for (const Demand& demand : demands) {
      all.bytes_per_s += demand.bytes_per_s;
      all.count += demand.messages;
    }
    return all;
  }
  const Together senders = one_of_each(demands, &Demand::sender);
  const Together receivers = one_of_each(demands, &Demand::receiver);
  return {std::min(senders.count, receivers.count),
          std::min(senders.bytes_per_s, receivers.bytes_per_s)};
}

double highest_rate(const machine::Paths& paths, machine::PathId path) {
  double rate = paths.bytes_per_s(0, path);
  for (const auto& change : paths.link_changes()) {
    rate = std::max(rate, paths.bytes_per_s(change.at_s, path));
  }
  return rate;
}

// Whether the time at which a message goes decides how long it takes, or whether it arrives. A host
// that fails takes everything of its ranks with it.
bool may_meet_other_rates(const sched::Schedule& schedule, const machine::Paths& paths) {
  if (paths.may_fail()) return true;
  return std::ranges::any_of(schedule.ops(), [&](const sched::Op& op) {
    return sched::is_initiator(op.kind) &&
           paths[paths.of(op.channel, sched::has_reply(op.kind))].change_count != 0;
  });
}

}  // namespace

std::optional<machine::LinkId> link_that_may_be_shared(const machine::Setting& setting,
                                                       const machine::Paths& paths) {
  const machine::Platform& platform = setting.platform;
  const machine::Wiring& wiring = setting.wiring;
  const machine::TopologyKind kind = platform.topology.kind();
  const bool one_per_nic = kind != machine::TopologyKind::kSimgridFile &&
                           platform.nic == machine::NicDiscipline::kSerial;
  if (one_per_nic && kind == machine::TopologyKind::kStar) return std::nullopt;
  std::vector<std::uint32_t> messages(paths.size());
  for (const sched::Op& op : setting.schedule.ops()) {
    if (!sched::is_initiator(op.kind)) continue;
    // Small messages may gather into a large one.
    const bool gathers = setting.schedule.channel(op.channel).bundle != sched::Bundle::kNone;
    if (!gathers && setting.schedule.payload_bytes(op) <= platform.interleave_bytes) continue;
    ++messages[paths.of(op.channel, sched::has_reply(op.kind)).value];
  }
  std::vector<std::vector<Demand>> of_link(wiring.links().size());
  std::vector<bool> is_fair_port(of_link.size());
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    const machine::PathId id(p);
    if (messages[p] == 0 || paths[id].local) continue;
    Demand demand{paths[id].src_nic.value, paths[id].dst_nic.value, highest_rate(paths, id)};
    if (!one_per_nic) demand.bytes_per_s *= messages[p];
    demand.messages = one_per_nic ? 1 : messages[p];
    const auto links = paths.links(id);
    for (std::size_t l = 0; l < links.size(); ++l) {
      if (!wiring.links()[links[l].value].shared) continue;
      of_link[links[l].value].push_back(demand);
      of_link[links[l].value].back().bytes_per_s *= paths.share(id, l);
    }
    if (one_per_nic || kind == machine::TopologyKind::kSimgridFile) continue;
    for (const machine::LinkId link : {paths.links(id).front(), paths.links(id).back()}) {
      is_fair_port[link.value] = true;
    }
  }
  std::vector<double> least_rate;
  for (const machine::Link& link : wiring.links()) {
    least_rate.push_back(link.rate.bytes_per_second());
  }
  for (const auto& change : paths.link_changes()) {
    least_rate[change.link.value] = std::min(least_rate[change.link.value], change.bytes_per_s);
  }
  for (std::uint32_t l = 0; l < of_link.size(); ++l) {
    const Together most = most_at_a_time(of_link[l], one_per_nic);
    if (most.count < 2) continue;
    if (is_fair_port[l] || most.bytes_per_s > least_rate[l] * (1 + 1e-9)) return machine::LinkId(l);
  }
  return std::nullopt;
}

std::optional<std::string> shared_link_name(const machine::Setting& setting) {
  const auto link = link_that_may_be_shared(setting, machine::Paths(setting));
  if (!link) return std::nullopt;
  return setting.wiring.links()[link->value].name;
}

std::optional<std::string> why_no_promise(const machine::Setting& setting) {
  const machine::Paths paths(setting);
  if (const auto link = link_that_may_be_shared(setting, paths)) {
    return fmt::format("messages may share links ({} is one), and a delay changes who shares when",
                       setting.wiring.links()[link->value].name);
  }
  if (may_meet_other_rates(setting.schedule, paths)) {
    return "rates change, or ways are cut, at given times, and a delay changes what messages meet";
  }
  return std::nullopt;
}

}  // namespace slackline::analysis
