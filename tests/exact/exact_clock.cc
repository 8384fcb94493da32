#include "tests/exact/exact_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "machine/lane.h"

namespace slackline::testing {
namespace {

using machine::ExecutionEvent;
using Kind = ExecutionEvent::Kind;
using sched::OpId;

constexpr double kPicoseconds = 1e12;

double seconds_of(const Rational& ps) {
  return Rational(ps / 1'000'000'000'000).convert_to<double>();
}

// What a few additions of doubles may be off at that time.
double rounding_s(double time_s) {
  return 8 * std::numeric_limits<double>::epsilon() * time_s + 1e-24;
}

}  // namespace

ExactClock::ExactClock(const machine::Setting& setting, const machine::Paths& paths,
                       std::span<const sched::OpTimes> times)
    : setting_(setting), paths_(paths), times_(times), network_(setting, paths) {
  if (const auto reason = setting.schedule.dynamic_reason()) {
    throw Unsupported(fmt::format("exact run: {}; expected a static schedule", *reason));
  }
  instants_.push_back({0, 0});
}

void ExactClock::drive(machine::DrivenRun& run) {
  run.start();
  std::vector<ExecutionEvent> events;
  for (;;) {
    find_rates();
    const Rational* next_ps = timers_.empty() ? nullptr : &timers_.begin()->first;
    for (const Flow& flow : flows_) {
      if (next_ps == nullptr || flow.end_ps < *next_ps) next_ps = &flow.end_ps;
    }
    if (next_ps == nullptr) return;
    const Rational now_ps = *next_ps;
    const Rational until_ps = now_ps + 1;
    events.clear();
    std::erase_if(flows_, [&](const Flow& flow) {
      if (flow.end_ps >= until_ps) return false;
      events.emplace_back(flow.op, Kind::kSent);
      changed_ = true;
      return true;
    });
    while (!timers_.empty() && timers_.begin()->first < until_ps) {
      const auto& now = timers_.begin()->second;
      events.insert(events.end(), now.begin(), now.end());
      timers_.erase(timers_.begin());
    }
    instants_.push_back({now_ps, seconds_of(now_ps)});
    run.instant(instants_.back().run_s, events);
  }
}

void ExactClock::transmit(double, machine::PathId path, std::uint64_t bytes, OpId op) {
  flows_.push_back({op, network_.wire_bytes(path, bytes), instants_.back().exact_ps, 0, 0,
                    network_.way(path, bytes)});
  changed_ = true;
}

void ExactClock::find_rates() {
  if (!changed_) return;
  changed_ = false;
  std::vector<const ExactWay*> ways;
  for (const Flow& flow : flows_) ways.push_back(&flow.way);
  const std::vector<Rational> rates = fair_rates(ways, network_.capacities());
  const Rational& now_ps = instants_.back().exact_ps;
  for (std::size_t f = 0; f < flows_.size(); ++f) {
    Flow& flow = flows_[f];
    Rational rate = rates[f] / 1'000'000'000'000;
    if (rate == flow.bytes_per_ps) continue;
    flow.left -= (now_ps - flow.since_ps) * flow.bytes_per_ps;
    flow.since_ps = now_ps;
    flow.end_ps = now_ps + flow.left / rate;
    flow.bytes_per_ps = std::move(rate);
  }
}

void ExactClock::at(double time_s, ExecutionEvent event) {
  const Moment from = origin(time_s, event);
  const Rational bytes_ps = span_of_bytes_ps(event);
  const double whole_ps = (time_s - from.run_s - seconds_of(bytes_ps)) * kPicoseconds;
  const double nearest_ps = std::nearbyint(whole_ps);
  if (std::abs(whole_ps - nearest_ps) > rounding_s(time_s) * kPicoseconds || nearest_ps < 0) {
    throw InternalError(fmt::format("exact run: op {} at {} s, {} ps after what it follows",
                                    event.op().value, time_s, whole_ps));
  }
  timers_[from.exact_ps + bytes_ps + static_cast<std::int64_t>(nearest_ps)].push_back(event);
}

// The time that the run has added something to.
ExactClock::Moment ExactClock::origin(double time_s, ExecutionEvent event) const {
  const OpId id = event.op();
  const sched::Op& op = setting_.schedule.op(id);
  switch (event.kind()) {
    case Kind::kOutFree:
    case Kind::kLargeOutFree:
    case Kind::kReplyOutFree: {  // a gap after the message began
      return instant_before(time_s, sched::seconds(setting_.platform.gap));
    }
    case Kind::kDone:
    case Kind::kCompleted:
      if (op.kind == sched::OpKind::kRecv || op.kind == sched::OpKind::kPoll) return landed(id);
      if (sched::is_fifo_source(op) && op.match.valid() &&
          sched::is_acknowledged(setting_.schedule.channel(op.channel).service)) {
        return landed(op.match);
      }
      return instants_.back();
    default:
      return instants_.back();
  }
}

// The later of the message's arrival and its receive's issue.
ExactClock::Moment ExactClock::landed(OpId receive) const {
  const sched::OpTimes& times = times_[receive.value];
  const sched::Op& source = setting_.schedule.op(setting_.schedule.op(receive).match);
  const double latency_s = paths_[paths_.of(source.channel, false)].latency_s;
  const Moment arrival = later(instant_before(times.wire_s, latency_s), latency_s);
  const Moment& issue = instant_before(times.issued_s, 0);
  return arrival.exact_ps >= issue.exact_ps ? arrival : issue;
}

ExactClock::Moment ExactClock::later(const Moment& moment, double span_s) const {
  const auto span_ps = static_cast<std::int64_t>(std::nearbyint(span_s * kPicoseconds));
  return {moment.exact_ps + span_ps, moment.run_s + span_s};
}

// Instants are a picosecond apart or more: no two are that near to one time.
const ExactClock::Moment& ExactClock::instant_before(double time_s, double span_s) const {
  const double near_s = rounding_s(time_s);
  const double begun_s = time_s - span_s;
  const auto found = std::ranges::lower_bound(instants_, begun_s - near_s, {}, &Moment::run_s);
  if (found == instants_.end() || found->run_s > begun_s + near_s) {
    throw InternalError(
        fmt::format("exact run: nothing happened {} s before {} s", span_s, time_s));
  }
  return *found;
}

// How much of the time until the event is that of bytes.
Rational ExactClock::span_of_bytes_ps(ExecutionEvent event) const {
  const OpId id = event.op();
  const sched::Op& op = setting_.schedule.op(id);
  if (event.kind() == Kind::kLaneEnd && !machine::is_posted(op.kind) &&
      op.kind != sched::OpKind::kCalc) {
    return Rational(bytes_of(id)) * 8 * 1'000'000'000'000 /
           setting_.platform.copy_rate.bits_per_second;
  }
  if (event.kind() == Kind::kSent) {
    return network_.alone_ps(paths_.of(op.channel, sched::has_reply(op.kind)), bytes_of(id));
  }
  return 0;
}

std::uint64_t ExactClock::bytes_of(OpId op) const {
  return setting_.schedule.payload_bytes(setting_.schedule.op(op));
}

}  // namespace slackline::testing
