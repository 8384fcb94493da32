// A torus of any number of dimensions, one host per router, with dimension-order routing.
#pragma once

#include <cstdint>
#include <vector>

namespace slackline::machine {

struct TopologyEntry;

/// The first dimension varies fastest in the hosts' numbers. Links "router-N.plus-D" and
/// "router-N.minus-D" lead from router N to its neighbours in dimension D; along a dimension of 2
/// there is one neighbour, and only the former.
struct Torus {
  std::vector<std::uint32_t> dims;

  friend bool operator==(const Torus&, const Torus&) = default;
};

const TopologyEntry& torus_entry();

}  // namespace slackline::machine
