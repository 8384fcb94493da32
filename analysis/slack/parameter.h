// The one figure of a run that is varied.
#pragma once

#include <cstdint>

#include "machine/wiring.h"
#include "sched/ids.h"

namespace slackline::analysis {

/// What is added to one figure of a run; 0 is the run as it was.
struct Parameter {
  enum class Kind : std::uint8_t {
    kLatency,     // s, to every way's latency but those within a machine
    kPost,        // s, to o_post; a straggler's posts take it times its slowdown
    kCompletion,  // s, to o_complete
    kGap,         // s, to the gap
    kByteTime,    // s per byte, to what a byte takes on a link: 1 / its rate
    kLaneTime,    // s, to each time that the rank holds a lane, as a straggler's `by`
    kSlowdown,    // to the factor of what the rank's lanes do without delays, as a straggler's
    kOpDelay,     // s, to the delay of one operation alone
  };
  Kind kind = Kind::kLatency;
  machine::LinkId link = machine::LinkId::none();  // kByteTime; none(): every link
  sched::RankId rank = sched::RankId::none();      // kLaneTime, kSlowdown
  sched::OpId op = sched::OpId::none();            // kOpDelay
};

}  // namespace slackline::analysis
