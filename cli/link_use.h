// What each NIC carried.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/paths.h"
#include "machine/wiring.h"
#include "sched/schedule.h"

namespace slackline::cli {

/// One entry per rank.
struct LinkUse {
  std::vector<std::uint64_t> out_bytes;
  std::vector<std::uint64_t> in_bytes;
};

/// The payload that the schedule's messages take out of and into each NIC; answers of gets and
/// atomics leave from their target.
LinkUse link_use(const sched::Schedule& schedule);

/// The share of `makespan_s` in which each NIC moves its `bytes` at its rate; 0 in no time. A NIC
/// is the first link of the ways that begin at its rank, or the last of those that end there with
/// `in`: the fastest of them, where a SimGrid file has several.
std::vector<double> utilisation(const std::vector<std::uint64_t>& bytes, bool in,
                                const machine::Wiring& wiring, const machine::Paths& paths,
                                double makespan_s);

}  // namespace slackline::cli
