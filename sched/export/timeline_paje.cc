#include "sched/export/timeline_paje.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/append.h"
#include "sched/export/timeline.h"
#include "sched/export/timeline_intervals.h"

namespace slackline::sched {
namespace {

constexpr std::size_t kPiece = 1 << 16;

// Numbers of events as kHead defines them.
enum Event {
  kContainerType,
  kStateType,
  kLinkType,
  kValue,
  kCreate,
  kDestroy,
  kPush,
  kPop,
  kStartLink,
  kEndLink
};

// Each event with its number and fields. Types and values have names of one letter or two.
constexpr std::string_view kHead =
    "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n"
    "%EndEventDef\n"
    "%EventDef PajeDefineStateType 1\n% Alias string\n% Type string\n% Name string\n"
    "%EndEventDef\n"
    "%EventDef PajeDefineLinkType 2\n% Alias string\n% Type string\n"
    "% StartContainerType string\n% EndContainerType string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDefineEntityValue 3\n% Alias string\n% Type string\n% Name string\n"
    "% Color color\n%EndEventDef\n"
    "%EventDef PajeCreateContainer 4\n% Time date\n% Alias string\n% Type string\n"
    "% Container string\n% Name string\n%EndEventDef\n"
    "%EventDef PajeDestroyContainer 5\n% Time date\n% Type string\n% Name string\n"
    "%EndEventDef\n"
    "%EventDef PajePushState 6\n% Time date\n% Container string\n% Type string\n"
    "% Value string\n% Op int\n% Step int\n% Bytes string\n%EndEventDef\n"
    "%EventDef PajePopState 7\n% Time date\n% Container string\n% Type string\n%EndEventDef\n"
    "%EventDef PajeStartLink 8\n% Time date\n% Container string\n% Type string\n"
    "% StartContainer string\n% Value string\n% Key string\n%EndEventDef\n"
    "%EventDef PajeEndLink 9\n% Time date\n% Container string\n% Type string\n"
    "% EndContainer string\n% Value string\n% Key string\n%EndEventDef\n"
    "0 RUN 0 \"run\"\n0 RANK RUN \"rank\"\n0 TRACK RANK \"track\"\n"
    "1 DOES TRACK \"does\"\n2 MSG RUN TRACK TRACK \"message\"\n3 m MSG \"message\" \"0.5 0.5 "
    "0.5\"\n";

std::string_view colour(OpKind kind, bool posts) {
  if (posts) return "0.27 0.27 0.27";
  if (is_initiator(kind)) return "0.12 0.37 0.68";
  if (kind == OpKind::kRecv) return "0.94 0.64 0.24";
  return kind == OpKind::kCopy || kind == OpKind::kReduce || kind == OpKind::kCalc
             ? "0.29 0.56 0.29"
             : "0.8 0.8 0.8";
}

class PajeWriter {
 public:
  PajeWriter(const Schedule& schedule, const Trace& trace, const Sink& out,
             const TimelineNics& nics)
      : schedule_(schedule),
        trace_(trace),
        out_(out),
        nics_(nics),
        track_of_(schedule.op_count(), kNoTrack) {}

  void write() {
    text_ = kHead;
    values();
    containers();
    for (const Moment& moment : moments()) event(moment);
    destroy();
    out_(text_);
  }

 private:
  static constexpr std::uint32_t kNoTrack = 0xffffffffu;
  struct Placed {
    TimelineInterval interval;
    std::uint32_t track = 0;  // its container's number
  };
  // When one of placed_ begins or ends.
  struct Moment {
    double time_s = 0;
    std::uint32_t placed = 0;
    bool ends = false;
  };

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    append(text_, format, std::forward<Args>(args)...);
    text_ += '\n';
    if (text_.size() < kPiece) return;
    out_(text_);
    text_.clear();
  }

  void values() {
    for (int i = 0; i < kOpKinds; ++i) {
      const auto kind = static_cast<OpKind>(i);
      line("{} s{} DOES \"{}\" \"{}\"", int{kValue}, i, name(kind), colour(kind, false));
      line("{} p{} DOES \"post {}\" \"{}\"", int{kValue}, i, name(kind), colour(kind, true));
    }
  }

  void containers() {
    line("{} 0 run RUN 0 \"run\"", int{kCreate});
    for (std::uint32_t r = 0; r < schedule_.rank_count(); ++r) {
      line("{} 0 r{} RANK run \"rank {}\"", int{kCreate}, r, r);
      std::map<std::tuple<TimelineTrack, std::uint32_t, std::uint32_t>, std::uint32_t> known;
      for (const TimelineInterval& each : timeline_intervals(schedule_, trace_, RankId(r), nics_)) {
        const auto [track, is_new] = known.try_emplace({each.track, each.row, each.part}, tracks_);
        if (is_new) {
          line("{} 0 t{} TRACK r{} \"rank {} {} {}{}\"", int{kCreate}, tracks_++, r, r,
               track_name(each, nics_), each.row,
               each.part == 0 ? "" : fmt::format(" part {}", each.part));
        }
        placed_.push_back({each, track->second});
        if (each.track != TimelineTrack::kLane) track_of_[each.op.value] = track->second;
      }
    }
  }

  // Those of one container stand in their order, and in one instant it stays.
  std::vector<Moment> moments() const {
    std::vector<Moment> moments;
    moments.reserve(2 * placed_.size());
    for (std::uint32_t i = 0; i < placed_.size(); ++i) {
      moments.push_back({placed_[i].interval.begin_s, i, false});
      moments.push_back({placed_[i].interval.end_s, i, true});
    }
    std::stable_sort(moments.begin(), moments.end(),
                     [](const Moment& a, const Moment& b) { return a.time_s < b.time_s; });
    return moments;
  }

  void event(const Moment& moment) {
    const auto& [each, track] = placed_[moment.placed];
    if (moment.ends) {
      line("{} {:.12f} t{} DOES", int{kPop}, each.end_s, track);
    } else {
      const Op& op = schedule_.op(each.op);
      line("{} {:.12f} t{} DOES {}{} {} {} {}", int{kPush}, each.begin_s, track,
           each.posts ? 'p' : 's', static_cast<int>(op.kind), each.op.value, op.step,
           schedule_.payload_bytes(op));
    }
    if (each.track != TimelineTrack::kLane) link(moment, each, track);
  }

  // From the begin of a message's interval to the end of its receive's.
  void link(const Moment& moment, const TimelineInterval& each, std::uint32_t track) {
    const bool leaves = is_initiator(schedule_.op(each.op).kind);
    if (leaves == moment.ends) return;
    const OpId other = message_end(schedule_, trace_, each.op);
    if (!other.valid() || track_of_[other.value] == kNoTrack) return;
    line("{} {:.12f} run MSG t{} m {}", int{leaves ? kStartLink : kEndLink}, moment.time_s, track,
         leaves ? each.op.value : other.value);
  }

  void destroy() {
    double end_s = 0;
    for (const Placed& each : placed_) end_s = std::max(end_s, each.interval.end_s);
    for (std::uint32_t t = 0; t < tracks_; ++t)
      line("{} {:.12f} TRACK t{}", int{kDestroy}, end_s, t);
    for (std::uint32_t r = 0; r < schedule_.rank_count(); ++r) {
      line("{} {:.12f} RANK r{}", int{kDestroy}, end_s, r);
    }
    line("{} {:.12f} RUN run", int{kDestroy}, end_s);
  }

  const Schedule& schedule_;
  const Trace& trace_;
  const Sink& out_;
  const TimelineNics& nics_;
  std::string text_;  // what is not with the sink yet
  std::vector<Placed> placed_;
  std::vector<std::uint32_t> track_of_;  // of each operation on its NIC or waiting track
  std::uint32_t tracks_ = 0;
};

}  // namespace

void write_paje_timeline(const Schedule& schedule, const Trace& trace, const Sink& out,
                         const TimelineNics& nics) {
  require_same(schedule, trace);
  PajeWriter(schedule, trace, out, nics).write();
}

}  // namespace slackline::sched
