#include "report/tracks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/engines/link_load.h"
#include "machine/lane.h"

namespace slackline::report {
namespace {

using sched::Op;
using sched::OpId;
using sched::OpKind;
using sched::OpTimes;

class Builder {
 public:
  Builder(const machine::Setting& setting, const machine::Paths& paths, const sched::Trace& trace)
      : setting_(setting),
        schedule_(setting.schedule),
        paths_(paths),
        trace_(trace),
        together_(setting.schedule, &trace) {}

  std::vector<Track> tracks() {
    std::vector<Track> all;
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      of_.clear();
      const sched::RankId id(rank);
      for (std::uint32_t i = schedule_.first_op(id).value; i != schedule_.end_op(id).value; ++i) {
        place(OpId(i));
      }
      for (auto& [where, bars] : of_) {
        const auto [band, lane] = where;
        std::sort(bars.begin(), bars.end(), [](const TrackBar& a, const TrackBar& b) {
          return std::tuple(a.begin_s, a.op) < std::tuple(b.begin_s, b.op);
        });
        if (band == Band::kLane) begin_posts(bars);
        all.push_back({id, band, lane, std::move(bars)});
      }
    }
    return all;
  }

 private:
  void put(Band band, std::uint32_t lane, OpId op, double begin_s, double end_s) {
    if (!std::isfinite(begin_s) || !std::isfinite(end_s)) return;
    of_[{band, lane}].push_back({op, std::min(begin_s, end_s), end_s});
  }

  void place(OpId id) {
    const Op& op = schedule_.op(id);
    const OpTimes& t = trace_.ops[id.value];
    if (t.attempts == 0) return;  // passed over
    if (machine::is_posted(op.kind)) {
      put(Band::kLane, op.lane, id, t.issued_s, t.issued_s);
    } else if (machine::holds_lane(op.kind)) {
      put(Band::kLane, op.lane, id, t.issued_s, t.done_s);
    } else if (op.kind == OpKind::kPoll || op.kind == OpKind::kDelay) {
      put(Band::kWait, 0, id, t.ready_s, t.done_s);
    }
    if (sched::has_reply(op.kind)) {
      put(Band::kIn, 0, id, t.wire_s, t.done_s);
    } else if (sched::is_initiator(op.kind)) {
      const double end_s = left_s(setting_, paths_, trace_, together_, id);
      put(Band::kOut, 0, id, t.wire_s, std::isfinite(end_s) ? std::max(end_s, t.wire_s) : t.done_s);
    } else if (op.kind == OpKind::kRecv && op.match.valid()) {
      put(Band::kIn, 0, id, std::max(t.issued_s, trace_.ops[op.match.value].wire_s), t.done_s);
    }
  }

  // A post holds its lane from when it is ready and the lane is free.
  void begin_posts(std::vector<TrackBar>& bars) const {
    double free_s = 0;
    for (TrackBar& bar : bars) {
      if (machine::is_posted(schedule_.op(bar.op).kind)) {
        const double ready_s = trace_.ops[bar.op.value].ready_s;
        bar.begin_s = std::min(bar.end_s, std::max(ready_s, free_s));
      }
      free_s = std::max(free_s, bar.end_s);
    }
  }

  const machine::Setting& setting_;
  const sched::Schedule& schedule_;
  const machine::Paths& paths_;
  const sched::Trace& trace_;
  const analysis::SentTogether together_;
  std::map<std::pair<Band, std::uint32_t>, std::vector<TrackBar>> of_;  // of the rank at hand
};

}  // namespace

bool is_measured(const sched::Trace& trace) { return trace.engine.starts_with("run:"); }

double left_s(const machine::Setting& setting, const machine::Paths& paths,
              const sched::Trace& trace, const analysis::SentTogether& together, OpId op) {
  if (!is_measured(trace)) {
    return analysis::sent_s(setting, paths, trace, op, together.bytes(op));
  }
  const OpId match = setting.schedule.op(op).match;
  return trace.ops[match.valid() ? match.value : op.value].done_s;
}

std::vector<Track> tracks_of(const machine::Setting& setting, const machine::Paths& paths,
                             const sched::Trace& trace) {
  return Builder(setting, paths, trace).tracks();
}

}  // namespace slackline::report
