#include "cli/link_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/engines/sent_together.h"
#include "base/error.h"

namespace slackline::cli {
namespace {

// What an operation's message takes out of one NIC and into another, so many times.
void add_bytes(const sched::Schedule& schedule, sched::OpId op, std::uint64_t times,
               std::uint64_t& out, std::uint64_t& in) {
  const std::uint64_t payload = schedule.payload_bytes(schedule.op(op));
  std::uint64_t bytes = 0;
  if (!__builtin_mul_overflow(payload, times, &bytes) &&
      !__builtin_add_overflow(out, bytes, &out) && !__builtin_add_overflow(in, bytes, &in)) {
    return;
  }
  throw InputError(fmt::format(
      "{}: {} bytes, {} times: its rank's NIC carries 2^64 bytes or more; expected less",
      sched::describe(schedule, op), payload, times));
}

LinkUse use_of(std::size_t places) {
  using Bytes = std::vector<std::uint64_t>;
  using WireBytes = std::vector<double>;
  return {Bytes(places), Bytes(places), WireBytes(places), WireBytes(places)};
}

// Where a message leaves and where it arrives: ranks or NICs.
struct Ends {
  std::uint32_t from;
  std::uint32_t to;
};

// An operation's message, as it is or with others that left with it, so many times.
void add_message(const sched::Schedule& schedule, sched::OpId op, const Ends& ends,
                 double wire_bytes, std::uint64_t times, LinkUse& use) {
  add_bytes(schedule, op, times, use.out_bytes[ends.from], use.in_bytes[ends.to]);
  const double bytes = wire_bytes * static_cast<double>(times);
  use.out_wire_bytes[ends.from] += bytes;
  use.in_wire_bytes[ends.to] += bytes;
}

// Of every NIC: the fastest of the links by which ways leave it, or with `in` reach it; 0 if none
// does. In the mean over the run.
std::vector<double> nic_rates(bool in, const machine::Wiring& wiring, const machine::Paths& paths,
                              double makespan_s) {
  const std::vector<double> of_links = mean_bytes_per_s(wiring, paths, makespan_s);
  std::vector<double> rates(paths.nic_count());
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    const machine::PathId id(p);
    if (paths[id].local) continue;
    const auto links = paths.links(id);
    const double nic_rate = of_links[(in ? links.back() : links.front()).value];
    double& rate = rates[(in ? paths[id].dst_nic : paths[id].src_nic).value];
    rate = std::max(rate, nic_rate);
  }
  return rates;
}

}  // namespace

std::vector<double> mean_bytes_per_s(const machine::Wiring& wiring, const machine::Paths& paths,
                                     double end_s) {
  std::vector<double> rates;
  for (const machine::Link& link : wiring.links()) rates.push_back(link.rate.bytes_per_second());
  const auto changes = paths.link_changes();
  for (std::size_t first = 0; first < changes.size();) {
    double& mean = rates[changes[first].link.value];
    double rate = mean;  // since since_s
    double since_s = 0;
    double bytes = 0;
    std::size_t next = first;
    for (; next < changes.size() && changes[next].link == changes[first].link; ++next) {
      const double at_s = changes[next].at_s;
      if (at_s > 0 && !(std::isfinite(end_s) && at_s < end_s)) continue;
      bytes += rate * (at_s - since_s);
      since_s = at_s;
      rate = changes[next].bytes_per_s;
    }
    const bool over_time = std::isfinite(end_s) && end_s > since_s;
    mean = over_time ? (bytes + rate * (end_s - since_s)) / end_s : rate;
    first = next;
  }
  return rates;
}

RankUse::RankUse(const sched::Schedule& schedule, const machine::Node& node,
                 const machine::Framing& framing)
    : schedule_(schedule), node_(node), framing_(framing), use_(use_of(schedule.rank_count())) {}

void RankUse::add(sched::OpId id, std::uint64_t bytes, std::uint64_t times) {
  const sched::Op& op = schedule_.op(id);
  const sched::Channel& channel = schedule_.channel(op.channel);
  if (node_.is_local(channel.src, channel.dst)) return;
  Ends ends{channel.src.value, channel.dst.value};
  if (sched::has_reply(op.kind)) std::swap(ends.from, ends.to);
  add_message(schedule_, id, ends, framing_.wire_bytes(bytes), times, use_);
}

LinkUse link_use(const sched::Schedule& schedule, const machine::Node& node,
                 const sched::Trace* trace, const machine::Framing& framing) {
  RankUse use(schedule, node, framing);
  analysis::each_message(schedule, trace,
                         [&](sched::OpId id, const sched::Op&, std::uint64_t bytes,
                             std::uint64_t times) { use.add(id, bytes, times); });
  return use.take();
}

std::vector<double> utilisation(const std::vector<double>& wire_bytes, bool in,
                                const machine::Wiring& wiring, const machine::Paths& paths,
                                double makespan_s) {
  const machine::Node& node = wiring.node();
  const std::vector<double> rates = nic_rates(in, wiring, paths, makespan_s);
  const auto machine_of = [&](std::size_t rank) {
    return node.of(sched::RankId(static_cast<std::uint32_t>(rank)));
  };
  std::vector<double> of_machine(wire_bytes.size());
  for (std::size_t r = 0; r < wire_bytes.size(); ++r) of_machine[machine_of(r)] += wire_bytes[r];
  std::vector<double> shares(wire_bytes.size());
  for (std::size_t r = 0; r < wire_bytes.size(); ++r) {
    if (wiring.is_switch(sched::RankId(static_cast<std::uint32_t>(r)))) continue;
    const std::uint32_t machine = machine_of(r);
    if (of_machine[machine] == 0 || makespan_s <= 0) continue;
    // NICs of one machine are alike; some may serve no way.
    const auto first = rates.begin() + std::ptrdiff_t{machine} * node.rails.count;
    const double rate = *std::max_element(first, first + node.rails.count) * node.rails.count;
    shares[r] = of_machine[machine] / rate / makespan_s;
  }
  return shares;
}

NicUse nic_use(const sched::Schedule& schedule, const machine::Wiring& wiring,
               const machine::Paths& paths, const sched::Trace* trace, double makespan_s) {
  LinkUse use = use_of(paths.nic_count());
  analysis::each_message(
      schedule, trace,
      [&](sched::OpId id, const sched::Op& op, std::uint64_t bytes, std::uint64_t times) {
        const machine::PathId path = paths.of(op.channel, sched::has_reply(op.kind));
        if (paths[path].local) return;
        const Ends ends{paths[path].src_nic.value, paths[path].dst_nic.value};
        add_message(schedule, id, ends, paths.wire_bytes(path, bytes), times, use);
      });
  const auto shares = [&](const std::vector<double>& of_nic, bool in) {
    const std::vector<double> rates = nic_rates(in, wiring, paths, makespan_s);
    std::vector<double> share(of_nic.size());
    for (std::size_t n = 0; n < of_nic.size(); ++n) {
      if (of_nic[n] > 0 && makespan_s > 0) share[n] = of_nic[n] / rates[n] / makespan_s;
    }
    return share;
  };
  return {std::move(use.out_bytes), std::move(use.in_bytes), shares(use.out_wire_bytes, false),
          shares(use.in_wire_bytes, true)};
}

}  // namespace slackline::cli
