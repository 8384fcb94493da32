// What one remote operation costs: every rank does one after the other, each at a rank of its
// choice. The component benchmarks of "RDMA vs. RPC for Implementing Distributed Data Structures"
// (Brock et al., 2019), section III-A.
#pragma once

#include <cstdint>

#include "sched/pattern/pattern.h"

namespace slackline::sched {

enum class ComponentKind : std::uint8_t {
  kPut,                    // "put": of 4 bytes
  kGet,                    // "get": of 4 bytes
  kFetchAdd,               // "fetch-add": of 1
  kCompareSwap,            // "compare-swap": once, whether it swaps or not
  kPersistentCompareSwap,  // "persistent-compare-swap": until it swaps what it fetched last
  kActiveMessage,          // "active-message": 8 bytes, run by the target's lane 0, and a reply
};

struct OneSidedOptions {
  std::uint32_t operations = 1;  // of each rank, ≥ 1
  ComponentKind access = ComponentKind::kPut;
  std::uint32_t variables = 1'000;  // of 8 bytes at each rank, ≥ 1; not of puts and messages
  std::uint64_t seed = 0;
};

/// Operation i of a rank begins when its operation i − 1 is done, and is step i; what an active
/// message makes others do is step `operations` + i. Targets are drawn from all ranks, the rank
/// itself among them, and variables from all of the target's; a put goes to a word that nobody else
/// writes, so that the schedule is without races. No variable is 0 at first, so a persistent
/// compare_swap, which expects 0 first, takes two rounds if nobody comes between. Throws InputError
/// for options out of their range. Of an active message Spec::handler is how long it runs.
Schedule one_sided(const Spec& spec);

/// About how many operations that makes; never less.
std::uint64_t one_sided_ops(const Spec& spec);
extern const PatternEntry kOneSidedPattern;

}  // namespace slackline::sched
