// A network within a machine, as of accelerators on NVLink: a switch of full speed with a port for
// each rank. What it costs is stated in docs/architecture.md, "A scale-up network within a node".
#pragma once

#include "base/units.h"

namespace slackline::machine {

/// There is none unless it has a rate: then ranks of a machine reach each other through memory.
struct ScaleUp {
  sched::Rate rate{0};           // of a rank's port, each way; 0: there is no such network
  sched::Time latency{500'000};  // from a rank to another of its machine, one way

  bool any() const { return rate.bits_per_second != 0; }
  friend bool operator==(const ScaleUp&, const ScaleUp&) = default;
};

}  // namespace slackline::machine
