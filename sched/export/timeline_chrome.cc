#include "sched/export/timeline_chrome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <queue>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/append.h"
#include "sched/export/timeline.h"

namespace slackline::sched {
namespace {

enum class Track : std::uint32_t { kLane, kNicOut, kNicIn, kWait };

// Thread numbers: a lane's own, then a range for each kind of track.
constexpr std::uint32_t kTracksOfAKind = 1u << 24;

constexpr std::string_view kHead = "{\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [";
constexpr std::string_view kEnd = "\n]}\n";

struct Interval {
  OpId op;
  double begin_s = 0;
  double end_s = 0;
  Track track = Track::kLane;
  std::uint32_t index = 0;  // kLane: the lane; otherwise given by spread()
};

bool is_message(const Op& op) { return is_initiator(op.kind); }

// Lanes are held by posts, calculations, copies and reductions.
bool holds_lane_until_done(OpKind kind) {
  return kind == OpKind::kCalc || kind == OpKind::kCopy || kind == OpKind::kReduce;
}
bool only_waits(OpKind kind) {
  return kind == OpKind::kDelay || kind == OpKind::kJoin || kind == OpKind::kPoll;
}

// Where a run stands among those of one timeline.
struct Place {
  std::uint32_t run = 0;
  std::uint32_t runs = 1;
  std::string label;  // as JSON text without quotes; empty of a run alone
};

// Writes the events of one run.
class Writer {
 public:
  Writer(const Schedule& schedule, const Trace& trace, Place place, std::string& out,
         std::span<const double> total_float_s = {}, std::span<const double> free_float_s = {})
      : schedule_(schedule),
        trace_(trace),
        place_(std::move(place)),
        total_float_s_(total_float_s),
        free_float_s_(free_float_s),
        out_(out) {}

  void write() {
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      event(
          "{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"tid\":0,\"args\":{{\"name\":"
          "\"rank {}{}{}\"}}}}",
          pid(RankId(rank)), rank, place_.label.empty() ? "" : ", ", place_.label);
      lanes(rank);
      collect(rank, Track::kNicOut);
      collect(rank, Track::kNicIn);
      collect(rank, Track::kWait);
    }
    for (std::uint32_t i = 0; i < schedule_.op_count(); ++i) arrow(OpId(i));
  }

 private:
  // Runs of a rank stand beside each other.
  std::uint64_t pid(RankId rank) const {
    return std::uint64_t{rank.value} * place_.runs + place_.run;
  }

  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    out_ += out_.ends_with('[') ? "\n" : ",\n";
    append(out_, format, std::forward<Args>(args)...);
  }

  static double us(double time_s) { return time_s * 1e6; }

  void name_thread(std::uint32_t rank, std::uint32_t tid, std::string_view text) {
    event(
        "{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{0},\"tid\":{1},\"args\":{{\"name\":"
        "\"{2}\"}}}}",
        pid(RankId(rank)), tid, text);
    event(
        "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{0},\"tid\":{1},\"args\":{{"
        "\"sort_index\":{1}}}}}",
        pid(RankId(rank)), tid);
  }

  static std::uint32_t tid_of(const Interval& each) {
    return static_cast<std::uint32_t>(each.track) * kTracksOfAKind + each.index;
  }

  void interval(const Interval& each, std::string_view what) {
    const Op& op = schedule_.op(each.op);
    event(
        "{{\"ph\":\"X\",\"name\":\"{}{} {}\",\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},"
        "\"dur\":{},\"args\":{{\"op\":{},\"step\":{},\"bytes\":{}{}}}}}",
        what, name(op.kind), each.op.value, name(op.kind), pid(op.rank), tid_of(each),
        us(each.begin_s), us(each.end_s - each.begin_s), each.op.value, op.step,
        schedule_.payload_bytes(op), slack(each.op));
  }

  std::string slack(OpId id) const {
    if (total_float_s_.empty()) return "";
    return fmt::format(",\"total_float_us\":{},\"free_float_us\":{}", us(total_float_s_[id.value]),
                       us(free_float_s_[id.value]));
  }

  // What a lane did, one thing after another.
  void lanes(std::uint32_t rank) {
    std::map<std::uint32_t, std::vector<OpId>> ops_of;
    for_each_op(rank, [&](OpId id, const Op& op) {
      if (!only_waits(op.kind) && std::isfinite(trace_.ops[id.value].issued_s)) {
        ops_of[op.lane].push_back(id);
      }
    });
    for (auto& [lane, ops] : ops_of) {
      name_thread(rank, lane, fmt::format("cpu {}", lane));
      std::sort(ops.begin(), ops.end(), [&](OpId a, OpId b) {
        return std::tuple(trace_.ops[a.value].issued_s, a) <
               std::tuple(trace_.ops[b.value].issued_s, b);
      });
      double free_s = 0;
      for (OpId id : ops) {
        const OpTimes& t = trace_.ops[id.value];
        const bool works = holds_lane_until_done(schedule_.op(id).kind);
        const double end_s = works && std::isfinite(t.done_s) ? t.done_s : t.issued_s;
        const double begin_s = works ? t.issued_s : std::max(t.ready_s, free_s);
        interval({id, std::min(begin_s, end_s), end_s, Track::kLane, lane}, works ? "" : "post ");
        free_s = std::max(free_s, end_s);
      }
    }
  }

  template <class Visit>
  void for_each_op(std::uint32_t rank, Visit&& visit) const {
    const std::uint32_t end = schedule_.end_op(RankId(rank)).value;
    for (std::uint32_t i = schedule_.first_op(RankId(rank)).value; i != end; ++i) {
      visit(OpId(i), schedule_.op(OpId(i)));
    }
  }

  static bool belongs(Track track, const Op& op) {
    if (track == Track::kNicOut) return is_message(op);
    if (track == Track::kNicIn) return op.kind == OpKind::kRecv && op.match.valid();
    return only_waits(op.kind);
  }

  double begin_of(Track track, OpId id) const {
    const OpTimes& t = trace_.ops[id.value];
    if (track == Track::kNicOut) return t.wire_s;
    if (track == Track::kWait) return std::min(t.ready_s, t.done_s);
    return std::max(t.issued_s, trace_.ops[schedule_.op(id).match.value].wire_s);
  }

  // Overlapping intervals of one kind go to the thread that has been free longest.
  void collect(std::uint32_t rank, Track track) {
    std::vector<Interval> intervals;
    for_each_op(rank, [&](OpId id, const Op& op) {
      if (!belongs(track, op)) return;
      const double begin_s = begin_of(track, id);
      const double end_s = trace_.ops[id.value].done_s;
      if (!std::isfinite(begin_s) || !std::isfinite(end_s)) return;
      intervals.push_back({id, std::min(begin_s, end_s), end_s, track, 0});
    });
    std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
      return std::tuple(a.begin_s, a.op) < std::tuple(b.begin_s, b.op);
    });
    using Free = std::pair<double, std::uint32_t>;  // from when, which
    std::priority_queue<Free, std::vector<Free>, std::greater<>> threads;
    for (Interval& each : intervals) {
      if (!threads.empty() && threads.top().first <= each.begin_s) {
        each.index = threads.top().second;
        threads.pop();
      } else {
        constexpr std::string_view kNames[] = {"cpu", "nic out", "nic in", "waits"};
        each.index = static_cast<std::uint32_t>(threads.size());
        name_thread(rank, tid_of(each), kNames[static_cast<std::size_t>(track)]);
      }
      threads.emplace(each.end_s, each.index);
      interval(each, "");
      marks_.resize(schedule_.op_count());
      marks_[each.op.value] = {tid_of(each), each.begin_s, true};
    }
  }

  void arrow(OpId id) {
    const Op& op = schedule_.op(id);
    if (!is_message(op) || !op.match.valid() || marks_.empty()) return;
    const Mark& from = marks_[id.value];
    const Mark& to = marks_[op.match.value];
    const std::uint64_t number = std::uint64_t{id.value} * place_.runs + place_.run;
    if (!from.shown || !to.shown) return;
    event(
        "{{\"ph\":\"s\",\"name\":\"message\",\"cat\":\"message\",\"id\":{},\"pid\":{},\"tid\":{},"
        "\"ts\":{}}}",
        number, pid(op.rank), from.tid, us(from.begin_s));
    event(
        "{{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"message\",\"cat\":\"message\",\"id\":{},"
        "\"pid\":{},\"tid\":{},\"ts\":{}}}",
        number, pid(schedule_.op(op.match).rank), to.tid, us(to.begin_s));
  }

  struct Mark {
    std::uint32_t tid = 0;
    double begin_s = 0;
    bool shown = false;
  };

  const Schedule& schedule_;
  const Trace& trace_;
  Place place_;
  std::span<const double> total_float_s_;  // empty: not shown
  std::span<const double> free_float_s_;
  std::string& out_;
  std::vector<Mark> marks_;  // of each operation on its NIC or waiting track
};

}  // namespace

std::string write_chrome_timeline(const Schedule& schedule, const Trace& trace) {
  return write_chrome_timeline(schedule, trace, {}, {});
}

std::string write_chrome_timeline(const Schedule& schedule, const Trace& trace,
                                  std::span<const double> total_float_s,
                                  std::span<const double> free_float_s) {
  require_same(schedule, trace);
  std::string out(kHead);
  Writer(schedule, trace, {}, out, total_float_s, free_float_s).write();
  return out += kEnd;
}

std::string write_chrome_overlay(const Schedule& schedule, std::span<const LabelledTrace> traces) {
  std::string out(kHead);
  for (std::uint32_t run = 0; run < traces.size(); ++run) {
    require_same(schedule, traces[run].trace);
    const std::string label = nlohmann::json(traces[run].label)
                                  .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    Writer(schedule, traces[run].trace,
           {run, static_cast<std::uint32_t>(traces.size()), label.substr(1, label.size() - 2)}, out)
        .write();
  }
  return out += kEnd;
}

}  // namespace slackline::sched
