#include "cli/link_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace slackline::cli {

LinkUse link_use(const sched::Schedule& schedule, const machine::Node& node,
                 const sched::Trace* trace, const machine::Framing& framing) {
  LinkUse use;
  use.out_bytes.resize(schedule.rank_count());
  use.in_bytes.resize(schedule.rank_count());
  use.out_wire_bytes.resize(schedule.rank_count());
  use.in_wire_bytes.resize(schedule.rank_count());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const sched::Op& op = schedule.ops()[i];
    if (!sched::is_initiator(op.kind)) continue;
    const sched::Channel& channel = schedule.channel(op.channel);
    sched::RankId from = channel.src;
    sched::RankId to = channel.dst;
    if (node.is_local(from, to)) continue;
    if (op.kind == sched::OpKind::kGet || sched::is_atomic(op.kind)) std::swap(from, to);
    const std::uint64_t times = trace != nullptr ? trace->ops[i].attempts : 1;
    const std::uint64_t payload = schedule.payload_bytes(op);
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(payload, times, &bytes) ||
        __builtin_add_overflow(use.out_bytes[from.value], bytes, &use.out_bytes[from.value]) ||
        __builtin_add_overflow(use.in_bytes[to.value], bytes, &use.in_bytes[to.value])) {
      throw InputError(
          fmt::format("{}: {} bytes, {} times: its rank's NIC carries 2^64 bytes or more; expected "
                      "less",
                      sched::describe(schedule, sched::OpId(i)), payload, times));
    }
    const double wire_bytes = framing.wire_bytes(payload) * static_cast<double>(times);
    use.out_wire_bytes[from.value] += wire_bytes;
    use.in_wire_bytes[to.value] += wire_bytes;
  }
  return use;
}

std::vector<double> utilisation(const std::vector<double>& wire_bytes, bool in,
                                const machine::Wiring& wiring, const machine::Paths& paths,
                                double makespan_s) {
  std::vector<double> rates(wire_bytes.size());
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    const machine::PathId id(p);
    if (paths[id].local) continue;
    const auto links = paths.links(id);
    const machine::Link& nic = wiring.links()[(in ? links.back() : links.front()).value];
    double& rate = rates[(in ? paths[id].dst_nic : paths[id].src_nic).value];
    rate = std::max(rate, nic.rate.bytes_per_second());
  }
  const auto nic_of = [&](std::size_t rank) {
    return wiring.node().first(sched::RankId(static_cast<std::uint32_t>(rank))).value;
  };
  std::vector<double> of_nic(wire_bytes.size());
  for (std::size_t r = 0; r < wire_bytes.size(); ++r) of_nic[nic_of(r)] += wire_bytes[r];
  std::vector<double> shares(wire_bytes.size());
  for (std::size_t r = 0; r < wire_bytes.size(); ++r) {
    const std::uint32_t nic = nic_of(r);
    if (of_nic[nic] == 0 || makespan_s <= 0) continue;
    shares[r] = of_nic[nic] / rates[nic] / makespan_s;
  }
  return shares;
}

}  // namespace slackline::cli
