#include "tests/exact/exact_network.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"

namespace slackline::testing {
namespace {

Rational bytes_per_s(machine::Rate rate) { return Rational(rate.bits_per_second, 8); }

}  // namespace

ExactNetwork::ExactNetwork(const machine::Setting& setting, const machine::Paths& paths)
    : setting_(setting), paths_(paths) {
  if (!setting.delays.link_rates.empty() || !setting.delays.failures.empty()) {
    throw Unsupported("exact run: a link changes or fails; expected links that stay as they are");
  }
  const auto links = setting.wiring.links();
  for (const machine::Link& link : links) capacities_.push_back(bytes_per_s(link.rate));
  std::map<std::pair<sched::RankId, sched::RankId>, std::size_t> link_of_pair;
  for (const machine::PairRate& pair : setting.delays.pairs) {
    link_of_pair.emplace(std::pair(pair.src, pair.dst), capacities_.size());
    capacities_.push_back(bytes_per_s(pair.rate));
  }
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    const machine::PathId id(p);
    const machine::Path& path = paths[id];
    ExactWay way;
    std::optional<Rational> alone;
    const auto at_most = [&](const Rational& rate) {
      if (!alone || rate < *alone) alone = rate;
    };
    const auto pair = link_of_pair.find({path.src, path.dst});
    if (pair != link_of_pair.end()) {
      way.passed.push_back({pair->second, 1});
      at_most(capacities_[pair->second]);
    }
    if (path.local) {
      at_most(bytes_per_s(setting.wiring.route(path.src, path.dst).copy_rate));
      way.bound = *alone;  // it shares with nobody
      way.passed.clear();
    }
    const auto passed = paths.links(id);
    for (std::size_t n = 0; n < passed.size(); ++n) {
      const std::size_t l = passed[n].value;
      if (!links[l].shared) {
        if (!way.bound || capacities_[l] < *way.bound) way.bound = capacities_[l];
        at_most(capacities_[l]);
        continue;
      }
      const Rational share(paths.parts(id, n), path.parts);
      const auto known = std::ranges::find(way.passed, l, &ExactPassage::link);
      if (known == way.passed.end()) {
        way.passed.push_back({l, share});
      } else {
        known->share += share;
      }
    }
    for (const ExactPassage& passage : way.passed) {
      at_most(capacities_[passage.link] / passage.share);
    }
    ways_.push_back(std::move(way));
    alone_.push_back(*alone);
  }
}

Rational ExactNetwork::wire_bytes(machine::PathId path, std::uint64_t bytes) const {
  Rational on_wire = bytes;
  const machine::Framing& framing = setting_.wiring.framing();
  if (paths_[path].passes_no_nic() || bytes == 0) return on_wire;
  const std::uint64_t packets = framing.mtu_bytes == 0 ? 1 : (bytes - 1) / framing.mtu_bytes + 1;
  on_wire += Rational(packets) * framing.packet_overhead;
  return on_wire * framing.coding_line_bits / framing.coding_payload_bits;
}

Rational ExactNetwork::pcie_s(machine::PathId path, std::uint64_t bytes) const {
  if (!paths_[path].passes_pcie || bytes == 0) return 0;
  const machine::Pcie& pcie = setting_.wiring.pcie();
  const std::uint64_t transactions =
      pcie.payload_bytes == 0 ? 1 : (bytes - 1) / pcie.payload_bytes + 1;
  const Rational taken = Rational(bytes) + Rational(transactions) * pcie.header_bytes;
  return taken / bytes_per_s(pcie.rate);
}

ExactWay ExactNetwork::way(machine::PathId path, std::uint64_t bytes) const {
  ExactWay way = ways_[path.value];
  const Rational held_s = pcie_s(path, bytes);
  if (held_s == 0) return way;
  const Rational most = wire_bytes(path, bytes) / held_s;
  if (!way.bound || most < *way.bound) way.bound = most;
  return way;
}

Rational ExactNetwork::alone_ps(machine::PathId path, std::uint64_t bytes) const {
  const Rational linked_s = wire_bytes(path, bytes) / alone_[path.value];
  const Rational held_s = pcie_s(path, bytes);
  return (linked_s < held_s ? held_s : linked_s) * 1'000'000'000'000;
}

}  // namespace slackline::testing
