// Whether the times of a run are a legal order of the schedule's events, across ranks too.
#pragma once

#include <gtest/gtest.h>

#include <span>

#include "sched/event_graph.h"
#include "tests/hw/local_ranks.h"

namespace slackline::testing {

/// Fails where an event has a time before one that it waits for. The reports are of processes of
/// one host, so that their clocks differ by no more than each tells. `with_posted`: a send that
/// waits for its receive to be posted does so on this transport.
inline void expect_legal_order(const sched::Schedule& schedule, std::span<const RankReport> reports,
                               bool with_posted) {
  using sched::EventId;
  const sched::ChannelOrder order = sched::channel_order(schedule);
  const auto times = [&](EventId event) -> const sched::OpTimes& {
    const sched::RankId rank = schedule.op(event.op()).rank;
    return reports[rank.value].times[event.op().value - schedule.first_op(rank).value];
  };
  const auto time = [&](EventId event) {
    return event.is_done() ? times(event).done_s : times(event).issued_s;
  };
  for (std::uint32_t e = 0; e < 2 * schedule.op_count(); ++e) {
    const EventId event{e};
    const sched::RankId rank = schedule.op(event.op()).rank;
    sched::for_each_arc_into(schedule, order, event, with_posted, [&](EventId pred) {
      const sched::RankId before = schedule.op(pred.op()).rank;
      if (before == rank) {
        EXPECT_LE(time(pred), time(event)) << describe(schedule, event.op());
        return;
      }
      // What is issued is on its way before the time of that is taken, but not before it was ready.
      const double earliest = pred.is_done() ? times(pred).done_s : times(pred).ready_s;
      EXPECT_LE(earliest + reports[before.value].begun_after_s,
                time(event) + reports[rank.value].begun_before_s)
          << describe(schedule, pred.op()) << " before " << describe(schedule, event.op());
    });
  }
}

}  // namespace slackline::testing
