// What messages meet on their way, in rational numbers: capacities and shares of links, bytes on
// the wire, rates of who is alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "machine/paths.h"
#include "machine/setting.h"
#include "tests/exact/fair_rates.h"
#include "tests/exact/rational.h"

namespace slackline::testing {

class ExactNetwork {
 public:
  /// The setting and the paths must outlive this. Throws Unsupported for delay plans that change or
  /// cut links.
  ExactNetwork(const machine::Setting& setting, const machine::Paths& paths);

  /// Bytes per second, of links and of pairs that the plan gives a rate of their own.
  std::span<const Rational> capacities() const { return capacities_; }
  /// What a message of `bytes` passes, and what it never has more than.
  ExactWay way(machine::PathId path, std::uint64_t bytes) const;
  /// By how many bytes a message of `bytes` takes the time of its way.
  Rational wire_bytes(machine::PathId path, std::uint64_t bytes) const;
  /// How long that takes a message that shares with nobody, in picoseconds.
  Rational alone_ps(machine::PathId path, std::uint64_t bytes) const;

 private:
  // That it takes of PCIe; 0 if it passes none that limits.
  Rational pcie_s(machine::PathId path, std::uint64_t bytes) const;

  const machine::Setting setting_;
  const machine::Paths& paths_;
  std::vector<Rational> capacities_;
  std::vector<ExactWay> ways_;
  std::vector<Rational> alone_;  // bytes per second
};

}  // namespace slackline::testing
