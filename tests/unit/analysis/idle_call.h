// What an operation of a data structure costs by call: the first to its target, which is idle and
// looks.
#pragma once

#include <cstdint>

#include "analysis/advice/structure_cost.h"
#include "machine/atomic_service.h"

namespace slackline::testing {

/// Request, handler, what it does to memory, reply. The messages are a put's and a get's without
/// the way that each of these goes only to come back.
inline double idle_call_s(const machine::Platform& platform, const machine::Wiring& wiring,
                          sched::RankId src, sched::RankId dst, sched::StructureAccess access,
                          sched::Time handler, std::uint64_t entry_bytes = 8) {
  // The ticket, and of the entry all, its key or nothing.
  const bool write = sched::is_write(access);
  const std::uint64_t named = write ? entry_bytes : access == sched::StructureAccess::kFind ? 8 : 0;
  const std::uint64_t asked = sched::kMarkBytes + 8 + named;
  const std::uint64_t told = sched::kMarkBytes + (write ? 0 : entry_bytes);
  const machine::Route there = wiring.route(src, dst);
  const double both_ways_s =
      sched::seconds(there.latency) + sched::seconds(wiring.route(dst, src).latency);
  const double messages_s = analysis::idle_costs(platform, wiring, src, dst, {}, asked).put_s +
                            analysis::idle_costs(platform, wiring, src, dst, {}, told).get_s -
                            both_ways_s - machine::read_s(platform, there.local || there.scale_up);
  const double effect_s = platform.copy_s(8) + (write ? platform.copy_s(entry_bytes) : 0);
  return messages_s + sched::seconds(handler) + effect_s;
}

}  // namespace slackline::testing
