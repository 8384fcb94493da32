#include "cli/link_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/engines/sent_together.h"
#include "base/error.h"

namespace slackline::cli {
namespace {

// How often an operation's message began to leave, as the load of links has it.
std::uint64_t times_begun(const sched::Trace* trace, std::uint32_t op) {
  if (trace == nullptr) return 1;
  return std::isfinite(trace->ops[op].wire_s) ? trace->ops[op].attempts : 0;
}

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

LinkUse link_use(const sched::Schedule& schedule, const machine::Node& node,
                 const sched::Trace* trace, const machine::Framing& framing) {
  LinkUse use;
  use.out_bytes.resize(schedule.rank_count());
  use.in_bytes.resize(schedule.rank_count());
  use.out_wire_bytes.resize(schedule.rank_count());
  use.in_wire_bytes.resize(schedule.rank_count());
  const analysis::SentTogether together(schedule, trace);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind)) continue;
    const sched::Channel& channel = schedule.channel(op.channel);
    sched::RankId from = channel.src;
    sched::RankId to = channel.dst;
    if (node.is_local(from, to)) continue;
    if (op.kind == sched::OpKind::kGet || sched::is_atomic(op.kind)) std::swap(from, to);
    const std::uint64_t times = times_begun(trace, i);
    add_bytes(schedule, sched::OpId(i), times, use.out_bytes[from.value], use.in_bytes[to.value]);
    if (!together.stands_for_all(sched::OpId(i))) continue;
    const double wire_bytes =
        framing.wire_bytes(together.bytes(sched::OpId(i))) * static_cast<double>(times);
    use.out_wire_bytes[from.value] += wire_bytes;
    use.in_wire_bytes[to.value] += wire_bytes;
  }
  return use;
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
  NicUse use;
  const std::uint32_t nics = paths.nic_count();
  use.out_bytes.resize(nics);
  use.in_bytes.resize(nics);
  std::vector<double> out_wire_bytes(nics);
  std::vector<double> in_wire_bytes(nics);
  const analysis::SentTogether together(schedule, trace);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind)) continue;
    const machine::PathId path = paths.of(op.channel, sched::has_reply(op.kind));
    if (paths[path].local) continue;
    const std::uint64_t times = times_begun(trace, i);
    const machine::NicId out = paths[path].src_nic;
    const machine::NicId into = paths[path].dst_nic;
    add_bytes(schedule, sched::OpId(i), times, use.out_bytes[out.value], use.in_bytes[into.value]);
    if (!together.stands_for_all(sched::OpId(i))) continue;
    const double wire_bytes =
        paths.wire_bytes(path, together.bytes(sched::OpId(i))) * static_cast<double>(times);
    out_wire_bytes[out.value] += wire_bytes;
    in_wire_bytes[into.value] += wire_bytes;
  }
  const auto shares = [&](const std::vector<double>& of_nic, bool in) {
    const std::vector<double> rates = nic_rates(in, wiring, paths, makespan_s);
    std::vector<double> share(nics);
    for (std::uint32_t n = 0; n < nics; ++n) {
      if (of_nic[n] > 0 && makespan_s > 0) share[n] = of_nic[n] / rates[n] / makespan_s;
    }
    return share;
  };
  use.out_share = shares(out_wire_bytes, false);
  use.in_share = shares(in_wire_bytes, true);
  return use;
}

}  // namespace slackline::cli
