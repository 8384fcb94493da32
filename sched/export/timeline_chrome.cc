#include "sched/export/timeline_chrome.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/append.h"
#include "sched/export/timeline.h"
#include "sched/export/timeline_intervals.h"

namespace slackline::sched {
namespace {

// Thread numbers: a lane's own, then a range for each kind of track.
constexpr std::uint32_t kTracksOfAKind = 1u << 24;

constexpr std::string_view kHead = "{\"displayTimeUnit\": \"ns\",\n\"traceEvents\": [";
constexpr std::string_view kEnd = "\n]}\n";

// Where a run stands among those of one timeline.
struct Place {
  std::uint32_t run = 0;
  std::uint32_t runs = 1;
  std::string label;  // as JSON text without quotes; empty of a run alone
};

// Writes the events of one run.
class Writer {
 public:
  Writer(const Schedule& schedule, const Trace& trace, const TimelineNics& nics, Place place,
         std::string& out, std::span<const double> total_float_s = {},
         std::span<const double> free_float_s = {})
      : schedule_(schedule),
        trace_(trace),
        nics_(nics),
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
      tracks(RankId(rank));
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

  static std::uint32_t tid_of(const TimelineInterval& each) {
    return static_cast<std::uint32_t>(each.track) * kTracksOfAKind + each.row;
  }

  void interval(const TimelineInterval& each) {
    const Op& op = schedule_.op(each.op);
    event(
        "{{\"ph\":\"X\",\"name\":\"{}{} {}\",\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},"
        "\"dur\":{},\"args\":{{\"op\":{},\"step\":{},\"bytes\":{}{}}}}}",
        each.posts ? "post " : "", name(op.kind), each.op.value, name(op.kind), pid(op.rank),
        tid_of(each), us(each.begin_s), us(each.end_s - each.begin_s), each.op.value, op.step,
        schedule_.payload_bytes(op), slack(each.op));
  }

  std::string slack(OpId id) const {
    if (total_float_s_.empty()) return "";
    return fmt::format(",\"total_float_us\":{},\"free_float_us\":{}", us(total_float_s_[id.value]),
                       us(free_float_s_[id.value]));
  }

  void tracks(RankId rank) {
    std::set<std::uint32_t> named;
    for (const TimelineInterval& each : timeline_intervals(schedule_, trace_, rank, nics_)) {
      const std::uint32_t tid = tid_of(each);
      const bool lane = each.track == TimelineTrack::kLane;
      if (named.insert(tid).second) {
        name_thread(
            rank.value, tid,
            lane ? fmt::format("{} {}", name(each.track), each.row) : track_name(each, nics_));
      }
      interval(each);
      if (lane) continue;
      marks_.resize(schedule_.op_count());
      marks_[each.op.value] = {tid, each.begin_s, true};
    }
  }

  void arrow(OpId id) {
    const Op& op = schedule_.op(id);
    if (!is_initiator(op.kind) || !op.match.valid() || marks_.empty()) return;
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
  const TimelineNics& nics_;
  Place place_;
  std::span<const double> total_float_s_;  // empty: not shown
  std::span<const double> free_float_s_;
  std::string& out_;
  std::vector<Mark> marks_;  // of each operation on its NIC or waiting track
};

}  // namespace

std::string write_chrome_timeline(const Schedule& schedule, const Trace& trace,
                                  const TimelineNics& nics) {
  return write_chrome_timeline(schedule, trace, {}, {}, nics);
}

std::string write_chrome_timeline(const Schedule& schedule, const Trace& trace,
                                  std::span<const double> total_float_s,
                                  std::span<const double> free_float_s, const TimelineNics& nics) {
  require_same(schedule, trace);
  std::string out(kHead);
  Writer(schedule, trace, nics, {}, out, total_float_s, free_float_s).write();
  return out += kEnd;
}

std::string write_chrome_overlay(const Schedule& schedule, std::span<const LabelledTrace> traces) {
  std::string out(kHead);
  for (std::uint32_t run = 0; run < traces.size(); ++run) {
    require_same(schedule, traces[run].trace);
    const std::string label = nlohmann::json(traces[run].label)
                                  .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    Writer(schedule, traces[run].trace, traces[run].nics,
           {run, static_cast<std::uint32_t>(traces.size()), label.substr(1, label.size() - 2)}, out)
        .write();
  }
  return out += kEnd;
}

}  // namespace slackline::sched
