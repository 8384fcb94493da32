// What stands on a timeline, and where: what a rank's lanes and its NIC did when.
//
// On a lane stand posts (from when the operation was ready and its lane free until it was issued)
// and calc, copy and reduce (from issued to done). On "NIC out" stand messages from the first byte
// on the wire until the operation is done, which for a send is its acknowledgement; on "NIC in"
// receives, from the first byte on the wire or the receive's post, whichever is later, until done.
// Each of several NICs has rows of its own. What only waits stands apart. What never happened, or
// was passed over, is left out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sched/export/timeline_nics.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::sched {

enum class TimelineTrack : std::uint32_t { kLane, kNicOut, kNicIn, kWait };

struct TimelineInterval {
  OpId op;
  double begin_s = 0;
  double end_s = 0;  // not before begin_s
  TimelineTrack track = TimelineTrack::kLane;
  // kLane: the lane. Otherwise the row of the track: intervals that overlap have rows of their own.
  std::uint32_t row = 0;
  bool posts = false;  // of a lane
  // kLane: 0. A trace by other hands may have a lane do two things at once: then intervals of one
  // part do not overlap.
  std::uint32_t part = 0;
  std::uint32_t nic = 0;  // kNicOut, kNicIn: of its host; each has rows of its own
};

/// What a track is called, without its row: "cpu", "nic out", "nic in", "waits".
std::string_view name(TimelineTrack track);
/// The same of an interval's track, with its NIC where there are several: "nic 1 out".
std::string track_name(const TimelineInterval& interval, const TimelineNics& nics);

/// What the message of an operation on a NIC's or a waiting track leads to, or comes from; none()
/// if it has none, or that was never done.
OpId message_end(const Schedule& schedule, const Trace& trace, OpId id);

/// Of one rank, by track, lanes one after the other; on a lane and on the others in the order in
/// which they begin. `trace` is of this schedule.
std::vector<TimelineInterval> timeline_intervals(const Schedule& schedule, const Trace& trace,
                                                 RankId rank, const TimelineNics& nics = {});

}  // namespace slackline::sched
