#include "sched/export/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/append.h"
#include "base/axis_step.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "base/units.h"
#include "base/xml_text.h"
#include "sched/export/timeline.h"
#include "sched/export/timeline_intervals.h"

namespace slackline::sched {
namespace {

// In SVG's pixels.
constexpr double kLeft = 120;
constexpr double kWidth = 1040;  // of time
constexpr double kRight = 40;
constexpr double kTop = 76;
constexpr double kRow = 13;
constexpr double kBar = 10;
constexpr double kGap = 7;  // between ranks
constexpr double kLeast = 0.4;
constexpr double kSeparated = 3;            // from here on a bar has a border
constexpr std::size_t kMostPlatform = 150;  // characters
constexpr std::size_t kMostTitle = 85;      // up to the legend

// Told apart by lightness, too.
constexpr std::string_view kStyle =
    "<style>\n"
    "text { font: 11px sans-serif; fill: #222 }\n"
    ".title { font-size: 15px; font-weight: bold }\n"
    ".track { fill: #777; text-anchor: end }\n"
    ".time { text-anchor: middle }\n"
    ".grid { stroke: #ddd; stroke-width: 1 }\n"
    ".band { fill: #f5f5f7 }\n"
    ".post { fill: #444 }\n"
    ".work { fill: #4a8f4a }\n"
    ".out { fill: #1f5fae }\n"
    ".in { fill: #f0a33c }\n"
    ".long { stroke: white; stroke-width: 0.6 }\n"
    "</style>\n";

std::string_view class_of(const TimelineInterval& each) {
  switch (each.track) {
    case TimelineTrack::kNicOut:
      return "out";
    case TimelineTrack::kNicIn:
      return "in";
    default:
      return each.posts ? "post" : "work";
  }
}

// Of a row, by its first interval. Of the rows of one NIC the first alone has a name.
std::string row_name(const TimelineInterval& first, bool is_new_nic, const TimelineNics& nics) {
  if (first.track == TimelineTrack::kLane) {
    return first.row == 0 ? "cpu" : fmt::format("cpu {}", first.row);
  }
  if (!is_new_nic) return "";
  const std::string_view way = first.track == TimelineTrack::kNicOut ? "out" : "in";
  if (first.nic == TimelineNics::kScaleUp) return fmt::format("scale-up {}", way);
  return nics.are_several() ? fmt::format("{} {}", way, first.nic) : std::string(way);
}

class Picture {
 public:
  Picture(const Schedule& schedule, const Trace& trace, const TimelineNics& nics)
      : schedule_(schedule), trace_(trace), nics_(nics) {
    for (const OpTimes& t : trace.ops) {
      for (const double time_s : {t.issued_s, t.done_s}) {
        if (std::isfinite(time_s)) end_s_ = std::max(end_s_, time_s);
      }
    }
  }

  std::string take() {
    double y = kTop;
    for (std::uint32_t r = 0; r < schedule_.rank_count(); ++r) y = rank(RankId(r), y);
    const double width = kLeft + kWidth + kRight;
    std::string out = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:g} {1:g}\" width=\"{0:g}\" "
        "height=\"{1:g}\">\n{2}<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width, y + 12, kStyle);
    head(out);
    return out + bands_ + grid(y) + bars_ + "</svg>\n";
  }

 private:
  double x(double time_s) const { return end_s_ > 0 ? kLeft + kWidth * (time_s / end_s_) : kLeft; }

  void head(std::string& out) const {
    append(out, "<text class=\"title\" x=\"12\" y=\"24\">{}</text>\n",
           xml_text(shown(trace_.title.empty() ? schedule_.title() : trace_.title, kMostTitle)));
    append(out, "<text x=\"12\" y=\"42\">makespan {}, {}, {}</text>\n",
           human_seconds(trace_.makespan_s()), xml_text(trace_.engine),
           xml_text(shown(trace_.platform, kMostPlatform)));
    double at = kLeft + kWidth - 330;
    for (const auto& [name, text] :
         {std::pair("post", "posts"), std::pair("work", "copies, calculates"),
          std::pair("out", "sends"), std::pair("in", "receives")}) {
      append(out, "<rect class=\"{}\" x=\"{:.1f}\" y=\"15\" width=\"14\" height=\"10\"/>", name,
             at);
      append(out, "<text x=\"{:.1f}\" y=\"24\">{}</text>\n", at + 18, text);
      at += 34 + 6.5 * static_cast<double>(std::string_view(text).size());
    }
  }

  std::string grid(double bottom) const {
    std::string out;
    if (end_s_ <= 0) return out;
    const double tick = base::axis_step(end_s_);
    for (int i = 0; i * tick <= end_s_ * (1 + 1e-9); ++i) {
      append(out,
             "<line class=\"grid\" x1=\"{0:.2f}\" y1=\"{1:g}\" x2=\"{0:.2f}\" y2=\"{2:g}\"/>"
             "<text class=\"time\" x=\"{0:.2f}\" y=\"{3:g}\">{4}</text>\n",
             x(i * tick), kTop - 4, bottom, kTop - 9, human_seconds(i * tick));
    }
    return out;
  }

  // Answers where the next begins.
  double rank(RankId rank, double y) {
    std::map<std::tuple<TimelineTrack, std::uint32_t, std::uint32_t>, std::vector<TimelineInterval>>
        rows;  // by track, NIC and row
    for (const TimelineInterval& each : timeline_intervals(schedule_, trace_, rank, nics_)) {
      if (each.track == TimelineTrack::kWait) continue;
      rows[{each.track, each.nic, each.row}].push_back(each);
    }
    const double height = kRow * static_cast<double>(std::max<std::size_t>(rows.size(), 1));
    if (rank.value % 2 == 0) {
      append(bands_, "<rect class=\"band\" x=\"0\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\"/>\n",
             y - kGap / 2, kLeft + kWidth + kRight, height + kGap);
    }
    append(bands_, "<text x=\"12\" y=\"{:g}\">rank {}</text>\n", y + kBar, rank.value);
    double top = y;
    std::optional<std::pair<TimelineTrack, std::uint32_t>> last;  // and its NIC
    for (const auto& [where, intervals] : rows) {
      const TimelineInterval& first = intervals.front();
      const std::pair nic(first.track, first.nic);
      append(bands_, "<text class=\"track\" x=\"{:g}\" y=\"{:g}\">{}</text>\n", kLeft - 8,
             top + kBar, row_name(first, last != nic, nics_));
      last = nic;
      for (const TimelineInterval& each : intervals) bar(each, top);
      top += kRow;
    }
    return y + height + kGap;
  }

  void bar(const TimelineInterval& each, double y) {
    const Op& op = schedule_.op(each.op);
    const double width = std::max(kLeast, x(each.end_s) - x(each.begin_s));
    append(bars_,
           "<rect class=\"{}{}\" x=\"{:.2f}\" y=\"{:g}\" width=\"{:.2f}\" height=\"{:g}\"><title>",
           class_of(each), width > kSeparated ? " long" : "", x(each.begin_s), y, width, kBar);
    append(bars_, "{}{} {}, rank {}", each.posts ? "post of " : "", name(op.kind), each.op.value,
           op.rank.value);
    if (op.match.valid()) {
      const std::uint32_t peer = schedule_.op(op.match).rank.value;
      append(bars_, " {} rank {}", op.kind == OpKind::kRecv ? "from" : "to", peer);
    }
    append(bars_, ", step {}, {}, {} to {}</title></rect>\n", op.step,
           human_bytes(schedule_.payload_bytes(op)), human_seconds(each.begin_s),
           human_seconds(each.end_s));
  }

  const Schedule& schedule_;
  const Trace& trace_;
  const TimelineNics& nics_;
  double end_s_ = 0;
  std::string bands_, bars_;
};

}  // namespace

std::string write_svg_timeline(const Schedule& schedule, const Trace& trace,
                               const TimelineNics& nics) {
  require_same(schedule, trace);
  if (schedule.op_count() > kMostSvgOps) {
    throw InputError(
        fmt::format("svg: {} operations are more than one picture shows; expected at "
                    "most {}, or another format",
                    schedule.op_count(), kMostSvgOps));
  }
  return Picture(schedule, trace, nics).take();
}

}  // namespace slackline::sched
