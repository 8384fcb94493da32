// A fat tree in the general form of Öhring et al. and Zahavi (XGFT, PGFT), with d-mod-k routing,
// ECMP, Valiant's by way of a switch of the last level, or packets sprayed over all ways.
#pragma once

#include <cstdint>
#include <vector>

namespace slackline::machine {

struct TopologyEntry;

/// Level 1 is that of the leaf switches, level 0 that of the hosts or, where hosts have several
/// NICs, of those. For each level l, from 1 on:
/// `down` nodes below each switch of l, `up` switches of l above each node of l − 1, and `parallel`
/// cables between the two. A NIC has one cable: up and parallel begin with 1. The cable c from the
/// switch p of level l to its parent i is port i + c·up: links "switch-l-p.up-PORT" and
/// "switch-l-p.down-PORT". The switches that ranks can be are "switch-l-p".
struct FatTree {
  std::vector<std::uint32_t> down;
  std::vector<std::uint32_t> up;
  std::vector<std::uint32_t> parallel;  // empty: 1 at every level

  friend bool operator==(const FatTree&, const FatTree&) = default;
};

/// The tree of three levels of k-port switches (Al-Fares et al.), k³/4 hosts; k even, in 2 … 160.
FatTree k_ary_fat_tree(std::uint32_t k);

const TopologyEntry& fat_tree_entry();

}  // namespace slackline::machine
