// Where on a timeline each operation stands.
//
// A rank has a track for each of its CPU lanes, one for what its NIC sends, one for what it
// receives and one for what only waits, as far as there is something on them. On a lane stand posts
// (until issued) and calc, copy and reduce (from issued to done). On `out` stand messages while
// they leave (left_s()). On `in` stand receives, from the first byte on the wire or the receive's
// post, whichever is later, until done, and gets and atomics from when their answer leaves until
// done. On `wait` stand polls and delays, from ready to done. report/page/bars.js has these times
// again: a page holds only which operations are on a track.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/engines/sent_together.h"
#include "machine/paths.h"
#include "machine/setting.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::report {

enum class Band : std::uint8_t { kLane, kOut, kIn, kWait };

struct TrackBar {
  sched::OpId op;
  double begin_s = 0;
  double end_s = 0;  // ≥ begin_s
};

struct Track {
  sched::RankId rank;
  Band band = Band::kLane;
  std::uint32_t lane = 0;      // of kLane
  std::vector<TrackBar> bars;  // in the order of (begin, op)
};

/// Whether the trace is of a real run, which sees when operations are issued and done, and nothing
/// of the wire.
bool is_measured(const sched::Trace& trace);

/// When the message of an initiator, or its answer, has left; of a real run, when it was received.
/// What is in a bundle has left when all of that has. Infinite if the trace does not tell.
/// `together`: of the same schedule and trace.
double left_s(const machine::Setting& setting, const machine::Paths& paths,
              const sched::Trace& trace, const analysis::SentTogether& together, sched::OpId op);

/// By rank, band and lane. What never happened, or was passed over, is left out.
std::vector<Track> tracks_of(const machine::Setting& setting, const machine::Paths& paths,
                             const sched::Trace& trace);

}  // namespace slackline::report
