#include "sched/export/events.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "base/append.h"
#include "base/shown_text.h"
#include "base/units.h"
#include "base/xml_text.h"
#include "sched/export/timeline.h"
#include "sched/graph.h"

namespace slackline::sched {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

bool is_done(std::uint32_t event) { return event % 2 != 0; }
OpId op_of(std::uint32_t event) { return OpId(event / 2); }

// "i7" or "d7".
std::string id_of(std::uint32_t event) {
  return fmt::format("{}{}", is_done(event) ? 'd' : 'i', event / 2);
}

// An attribute of what `of` says: graph, node or edge.
struct Attribute {
  std::string_view of;
  std::string_view name;
  std::string_view type;
  std::string_view description;
};
constexpr Attribute kAttributes[] = {
    {"graph", "digest", "string", "of the schedule"},
    {"graph", "title", "string", "of the schedule, for people"},
    {"node", "event", "string", "issued: the operation was posted, or its lane began; or done"},
    {"node", "op", "int", "the operation's number"},
    {"node", "kind", "string", "of the operation: send, recv, put, …"},
    {"node", "rank", "int", "whose operation it is"},
    {"node", "lane", "int", "of the rank's CPU, from 0"},
    {"node", "step", "int", "of the pattern"},
    {"node", "channel", "int", "that a message takes; -1 where there is none"},
    {"node", "bytes", "long", "that the operation reads"},
    {"edge", "kind", "string",
     "own: issued to done; edge: of the schedule; message: of a send or put to its match; posted: "
     "a "
     "receive may hold back its send's end; order: of a channel"},
};
constexpr Attribute kTime = {"node", "time_s", "double",
                             "when it came about, in seconds from the start of the run"};

class Events {
 public:
  Events(const Schedule& schedule, const Trace* trace, std::string_view format)
      : schedule_(schedule), trace_(trace) {
    require_static(schedule, format);
    if (trace != nullptr) require_same(schedule, *trace);
  }

  std::string graphml() const {
    std::string out =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n";
    for (const Attribute& attribute : kAttributes) key(out, attribute);
    if (trace_ != nullptr) key(out, kTime);
    append(out,
           "<graph id=\"G\" edgedefault=\"directed\">\n<data key=\"graph_digest\">{}</data>\n"
           "<data key=\"graph_title\">{}</data>\n",
           to_string(schedule_.digest()), xml_text(schedule_.title()));
    const EventGraph graph(schedule_);
    for (std::uint32_t event = 0; event < graph.event_count(); ++event) node(out, event);
    for (const Arc& arc : graph.arcs()) {
      append(out, "<edge source=\"{}\" target=\"{}\"><data key=\"edge_kind\">{}</data></edge>\n",
             id_of(arc.source), id_of(arc.target), name(arc.kind));
    }
    return out += "</graph>\n</graphml>\n";
  }

  std::string dot() const {
    std::string out =
        fmt::format("digraph events {{\n  label=\"{}\";\n  rankdir=LR;\n  node [shape=box];\n",
                    in_dot(schedule_.title()));
    for (std::uint32_t rank = 0; rank < schedule_.rank_count(); ++rank) {
      append(out, "  subgraph cluster_{0} {{\n    label=\"rank {0}\";\n", rank);
      const std::uint32_t end = 2 * schedule_.end_op(RankId(rank)).value;
      for (std::uint32_t e = 2 * schedule_.first_op(RankId(rank)).value; e != end; ++e) {
        append(out, "    {} [label=\"{} {} {}{}\"];\n", id_of(e), name(schedule_.op(op_of(e)).kind),
               e / 2, is_done(e) ? "done" : "issued", label_time(e));
      }
      out += "  }\n";
    }
    const EventGraph graph(schedule_);
    for (const Arc& arc : graph.arcs()) {
      append(out, "  {} -> {}{};\n", id_of(arc.source), id_of(arc.target), look_of(arc.kind));
    }
    return out += "}\n";
  }

 private:
  static void key(std::string& out, const Attribute& attribute) {
    append(out,
           "<key id=\"{0}_{1}\" for=\"{0}\" attr.name=\"{1}\" attr.type=\"{2}\"><desc>{3}</desc>"
           "</key>\n",
           attribute.of, attribute.name, attribute.type, attribute.description);
  }

  void node(std::string& out, std::uint32_t event) const {
    const Op& op = schedule_.op(op_of(event));
    append(out, "<node id=\"{}\">", id_of(event));
    const auto data = [&](std::string_view key, auto value) {
      append(out, "<data key=\"node_{}\">{}</data>", key, value);
    };
    data("event", is_done(event) ? "done" : "issued");
    data("op", event / 2);
    data("kind", name(op.kind));
    data("rank", op.rank.value);
    data("lane", op.lane);
    data("step", op.step);
    data("channel", op.channel.valid() ? std::int64_t{op.channel.value} : -1);
    data("bytes", schedule_.payload_bytes(op));
    if (const double time_s = time_of(event); std::isfinite(time_s)) data("time_s", time_s);
    out += "</node>\n";
  }

  // Infinite where there is none.
  double time_of(std::uint32_t event) const {
    if (trace_ == nullptr) return kNever;
    const OpTimes& times = trace_->ops[event / 2];
    return is_done(event) ? times.done_s : times.issued_s;
  }

  std::string label_time(std::uint32_t event) const {
    if (trace_ == nullptr) return "";
    const double time_s = time_of(event);
    return "\\n" + (std::isfinite(time_s) ? human_seconds(time_s) : "never");
  }

  static std::string in_dot(std::string_view text) {
    std::string out;
    for (const char c : shown(text)) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out;
  }

  static std::string_view look_of(ArcKind kind) {
    switch (kind) {
      case ArcKind::kMessage:
        return " [style=bold, color=blue]";
      case ArcKind::kPosted:
        return " [style=dotted]";
      case ArcKind::kOrder:
        return " [style=dashed]";
      default:
        return "";
    }
  }

  const Schedule& schedule_;
  const Trace* trace_;
};

constexpr std::string_view kGraphml = "events-graphml";
constexpr std::string_view kDot = "events-dot";

}  // namespace

std::string write_events_graphml(const Schedule& schedule) {
  return Events(schedule, nullptr, kGraphml).graphml();
}
std::string write_timed_events_graphml(const Schedule& schedule, const Trace& trace) {
  return Events(schedule, &trace, kGraphml).graphml();
}
std::string write_events_dot(const Schedule& schedule) {
  return Events(schedule, nullptr, kDot).dot();
}
std::string write_timed_events_dot(const Schedule& schedule, const Trace& trace) {
  return Events(schedule, &trace, kDot).dot();
}

}  // namespace slackline::sched
