#include "analysis/slack/weight_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "machine/atomic_service.h"
#include "machine/lane.h"

namespace slackline::analysis {
namespace {

using sched::has_reply;
using sched::Op;
using sched::OpId;
using sched::OpKind;
using Kind = Parameter::Kind;

bool covers(Line upper, Line line, double lo) {
  return upper.slope >= line.slope && upper.at(lo) >= line.at(lo);
}

void require(bool exists, std::string_view what, std::uint32_t index, std::uint32_t count) {
  if (exists) return;
  throw InputError(
      fmt::format("tolerance: {} {} does not exist; expected {}", what, index,
                  count == 0 ? "a schedule that has one" : fmt::format("0 to {}", count - 1)));
}

}  // namespace

void Lines::add(Line line, double lo) {
  for (const Line other : lines()) {
    if (covers(other, line, lo)) return;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (!covers(line, lines_[i], lo)) lines_[kept++] = lines_[i];
  }
  if (kept == lines_.size()) throw InternalError("a constraint of more than three lines");
  lines_[kept] = line;
  count_ = kept + 1;
}

Lines Lines::highest(const Lines& a, const Lines& b, double lo) {
  Lines result = a;
  for (const Line line : b.lines()) result.add(line, lo);
  return result;
}

Lines operator+(const Lines& a, const Lines& b) {
  if (a.count_ > 1 && b.count_ > 1) throw InternalError("a constraint of two figures that bend");
  const Lines& many = a.count_ > 1 ? a : b;
  const Line one = (a.count_ > 1 ? b : a).lines_[0];
  Lines result = many;
  for (std::size_t i = 0; i < many.count_; ++i) result.lines_[i] = many.lines_[i] + one;
  return result;
}

WeightLines::WeightLines(const machine::Setting& setting, const machine::Delays& delays,
                         const machine::Paths& paths, const sched::Trace& trace, WireTimes wire,
                         const Parameter& parameter)
    : schedule_(setting.schedule),
      platform_(setting.platform),
      delays_(delays),
      paths_(paths),
      parameter_(parameter),
      completions_(setting.schedule, setting.platform, setting.order),
      wire_s_(wire_times_s(setting, paths, trace, wire)),
      complete_{sched::seconds(platform_.o_complete),
                parameter.kind == Kind::kCompletion ? 1.0 : 0},
      gap_{sched::seconds(platform_.gap), parameter.kind == Kind::kGap ? 1.0 : 0} {
  if (parameter.kind == Kind::kLaneTime || parameter.kind == Kind::kSlowdown) {
    const std::uint32_t ranks = schedule_.rank_count();
    require(parameter.rank.value < ranks, "rank", parameter.rank.value, ranks);
  }
  if (parameter.kind == Kind::kOpDelay) {
    require(parameter.op.value < schedule_.op_count(), "op", parameter.op.value,
            schedule_.op_count());
  }
  if (parameter.kind == Kind::kPost) {
    slowdown_.assign(schedule_.rank_count(), 1);
    for (const machine::Straggler& s : setting.delays.stragglers)
      slowdown_[s.rank.value] = s.slowdown;
  }
  if (parameter.kind == Kind::kByteTime) {
    if (wire == WireTimes::kRun) {
      throw Unsupported(
          "tolerance: with the run's own times on the wire, which its messages shared, no link has "
          "a byte time to vary; expected the machine model's times, as by --wire model");
    }
    read_rates(setting.wiring);
  }
  set_least();
}

void WeightLines::read_rates(const machine::Wiring& wiring) {
  const machine::LinkId varied = parameter_.link;
  const auto links = wiring.links();
  require(!varied.valid() || varied.value < links.size(), "link", varied.value,
          static_cast<std::uint32_t>(links.size()));
  std::vector<double> rate(links.size());
  for (std::size_t l = 0; l < links.size(); ++l) rate[l] = links[l].rate.bytes_per_second();
  for (const machine::Paths::LinkChange& change : paths_.link_changes()) {
    if (change.at_s <= 0) rate[change.link.value] = change.bytes_per_s;
  }
  const auto slower = [](double& slowest, double bytes_per_s) {
    slowest = slowest == 0 ? bytes_per_s : std::min(slowest, bytes_per_s);
  };
  double fastest = varied.valid() ? rate[varied.value] : 0;
  way_rate_.resize(paths_.size());
  for (std::uint32_t p = 0; p < paths_.size(); ++p) {
    const machine::PathId path(p);
    WayRate& way = way_rate_[p];
    if (paths_[path].parts > 1) {
      throw Unsupported(
          fmt::format("tolerance: messages from rank {} to rank {} are sprayed over several ways, "
                      "so links have "
                      "no one byte time to vary; expected another routing",
                      paths_[path].src.value, paths_[path].dst.value));
    }
    if (paths_[path].pair_bytes_per_s > 0) slower(way.rest, paths_[path].pair_bytes_per_s);
    for (const machine::LinkId link : paths_.links(path)) {
      const bool own = !varied.valid() || link == varied;
      slower(own ? way.own : way.rest, rate[link.value]);
      if (own) fastest = std::max(fastest, rate[link.value]);
    }
    if (way.own != 0 && paths_[path].change_count != 0) {
      throw Unsupported(fmt::format(
          "tolerance: the rate of the way from rank {} to rank {} changes during the run, so its "
          "links have no byte time to vary",
          paths_[path].src.value, paths_[path].dst.value));
    }
  }
  if (fastest > 0) least_ = -1 / fastest;
}

void WeightLines::set_least() {
  switch (parameter_.kind) {
    case Kind::kLatency:
      least_ = -sched::seconds(platform_.latency);
      for (std::uint32_t p = 0, seen = 0; p < paths_.size(); ++p) {
        if (paths_[machine::PathId(p)].passes_no_nic()) continue;
        const double latency_s = paths_[machine::PathId(p)].latency_s;
        least_ = seen++ == 0 ? -latency_s : std::max(least_, -latency_s);
      }
      break;
    case Kind::kPost:
      // No less than the part of it that holds a lock.
      least_ = -sched::seconds(platform_.o_post - platform_.node.qp_lock);
      break;
    case Kind::kCompletion:
      least_ = -complete_.at_zero;
      break;
    case Kind::kGap:
      least_ = -gap_.at_zero;
      break;
    case Kind::kSlowdown:
      least_ = -1;
      if (platform_.node.qp_lock.count() > 0) {
        least_ += sched::seconds(platform_.node.qp_lock) / sched::seconds(platform_.o_post);
      }
      break;
    case Kind::kByteTime:  // read_rates() knows it
    case Kind::kLaneTime:
    case Kind::kOpDelay:
      break;
  }
}

KeptOrder WeightLines::kept_order() const {
  KeptOrder kept;
  kept.posts = parameter_.kind == Kind::kPost && platform_.o_post.count() == 0;
  kept.gaps = parameter_.kind == Kind::kGap && platform_.gap.count() == 0;
  if (parameter_.kind != Kind::kLaneTime) return kept;
  const sched::RankId rank = parameter_.rank;
  for (OpId id = schedule_.first_op(rank); id < schedule_.end_op(rank); ++id.value) {
    if (machine::holds_lane(schedule_.op(id).kind) && hold(id).at_zero == 0) kept.rank = rank;
  }
  return kept;
}

Line WeightLines::latency(OpId id, bool back) const {
  const machine::Path& way = paths_[paths_.of(schedule_.op(id).channel, back)];
  return {way.latency_s, parameter_.kind == Kind::kLatency && !way.passes_no_nic() ? 1.0 : 0};
}

Line WeightLines::hold(OpId id) const {
  const Op& op = schedule_.op(id);
  if (!machine::holds_lane(op.kind)) return {};
  const double lane_s = machine::lane_time_s(schedule_, platform_, op);
  Line line{lane_s + delays_.lane_delay_s(id), 0};
  switch (parameter_.kind) {
    case Kind::kPost:
      if (machine::is_posted(op.kind) && !(op.kind == OpKind::kRecv && platform_.o_post_recv)) {
        line.slope = slowdown_[op.rank.value];
      }
      break;
    case Kind::kLaneTime:
      if (op.rank == parameter_.rank) line.slope = 1;
      break;
    case Kind::kSlowdown:
      if (op.rank == parameter_.rank) line.slope = lane_s;
      break;
    default:
      break;
  }
  return line;
}

Line WeightLines::into(OpId id) const {
  Line line{delays_.post_delay_s(id), 0};
  if (parameter_.kind == Kind::kOpDelay && id == parameter_.op) line.slope = 1;
  return machine::is_posted(schedule_.op(id).kind) ? line + hold(id) : line;
}

Lines WeightLines::wire(OpId id) const {
  const Lines as_it_is(Line{wire_s_[id.value], 0});
  if (parameter_.kind != Kind::kByteTime) return as_it_is;
  const Op& op = schedule_.op(id);
  const machine::PathId path = paths_.of(op.channel, has_reply(op.kind));
  if (way_rate_[path.value].own == 0) return as_it_is;
  const std::uint64_t payload = schedule_.payload_bytes(op);
  const double bytes = paths_.wire_bytes(path, payload);
  const WayRate& way = way_rate_[path.value];
  const Lines own(Line{bytes / way.own, bytes});
  // However little a byte takes of the varied links, the others and PCIe take as long as ever.
  const double rest_s =
      std::max(way.rest == 0 ? 0.0 : bytes / way.rest, paths_.pcie_s(path, payload));
  return rest_s == 0 ? own : Lines::highest(own, Lines(Line{rest_s, 0}), least_);
}

// From the event at the NIC until the operation is done.
Line WeightLines::complete(OpId id) const { return complete_ + Line{completions_.see_s(id), 0}; }

// From the beginning of an answer to the operation's done.
Lines WeightLines::reply(OpId id) const {
  return wire(id) + Lines(latency(id, true) + complete(id));
}

Line WeightLines::source(NodeId node) const {
  return node.moment() == Moment::kIssued ? into(node.op()) : Line{};
}

Lines WeightLines::after_end(NodeId node) const {
  const OpKind kind = schedule_.op(node.op()).kind;
  const bool shifted = node.moment() == Moment::kDone && has_reply(kind) && kind != OpKind::kGet;
  return shifted ? reply(node.op()) : Lines{};
}

Lines WeightLines::weight(const Constraint& c, Weight weight) const {
  const OpId tail = c.tail.op();
  const OpId head = c.head.op();
  switch (weight) {
    case Weight::kFixed:
    case Weight::kLock:
      return Lines(Line{c.weight_s, 0});
    case Weight::kInto:
      return Lines(into(head)) + after_end(c.tail);
    case Weight::kLaneTime:
      return Lines(hold(tail));
    case Weight::kInFlight:
      return Lines(hold(head));
    case Weight::kCompletion:
      return Lines(complete(head));
    case Weight::kRequest: {
      const bool atomic = schedule_.op(tail).kind != OpKind::kGet;
      const bool local = paths_[paths_.of(schedule_.op(tail).channel, false)].passes_no_nic();
      const double read_s = machine::read_s(platform_, local);
      const Line asked{atomic ? read_s + machine::service_s(platform_, local) : read_s, 0};
      return Lines(latency(tail, false) + asked);
    }
    case Weight::kReply:
      return schedule_.op(tail).kind == OpKind::kGet ? reply(tail) : Lines{};
    case Weight::kSent:
      return wire(tail) + Lines(complete(head));
    case Weight::kArrived:
      return wire(tail) + Lines(latency(tail, false) + complete(head));
    case Weight::kAcknowledged:
      return wire(tail) + Lines(latency(tail, false) + latency(tail, true) + complete(head));
    case Weight::kAnswered:
      return Lines(latency(head, true) + complete(head));
    case Weight::kTurn: {
      Line line;
      const bool looked = c.tail.moment() == Moment::kDone;
      if (!looked && !machine::is_posted(schedule_.op(tail).kind)) line = line + hold(tail);
      if (c.head.moment() == Moment::kDone) {
        line = line + Line{completions_.see_s(head), 0};
      } else if (machine::is_posted(schedule_.op(head).kind)) {
        line = line + hold(head);
      }
      return Lines(line);
    }
    case Weight::kOutPort: {
      const Line gap =
          paths_[paths_.of(schedule_.op(tail).channel, false)].scale_up ? Line{} : gap_;
      if (platform_.nic != machine::NicDiscipline::kSerial) return Lines(gap);
      // A request that leaves is empty, whatever its operation brings back.
      if (c.tail.moment() == Moment::kRequest) return Lines(gap);
      return Lines::highest(wire(tail), Lines(gap), least_);
    }
    case Weight::kInPort:
      return c.tail.moment() == Moment::kRequest ? Lines{} : wire(tail);
  }
  throw InternalError("unknown weight");
}

}  // namespace slackline::analysis
