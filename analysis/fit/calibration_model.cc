#include "analysis/fit/calibration_model.h"

#include <algorithm>
#include <cmath>

namespace slackline::analysis {

bool is_paced(const MeasuredPoint& point) {
  return (point.kind == PointKind::kStream || point.kind == PointKind::kBurst) &&
         point.messages > 1;
}

Reading reading_of(std::span<const MeasuredPoint> points, std::uint32_t poll_batch) {
  const auto has = [&](PointKind kind) {
    return std::any_of(points.begin(), points.end(),
                       [&](const MeasuredPoint& point) { return point.kind == kind; });
  };
  Reading reading;
  reading.poll_batch = poll_batch;
  reading.within[index_of(Unknown::kSignal)] = !has(PointKind::kSignaled);
  reading.within[index_of(Unknown::kPoll)] = !has(PointKind::kDrain) && !has(PointKind::kDrainRecv);
  reading.within[index_of(Unknown::kMatch)] = !has(PointKind::kDrainRecv);
  return reading;
}

Unknowns row_of(const MeasuredPoint& point, Pace pace, const Reading& reading) {
  Unknowns row{};
  const double m = static_cast<double>(point.messages);
  const double b = static_cast<double>(point.bytes);
  const auto add = [&](Unknown unknown, double times) {
    if (!reading.within[index_of(unknown)]) row[index_of(unknown)] += times;
  };
  // Of `times` messages, to the far side and seen there, or there and back and seen: each by a look
  // of its own.
  const auto add_messages = [&](double times, double ways) {
    add(Unknown::kPost, times);
    add(Unknown::kSignal, times);
    add(Unknown::kPoll, times);
    add(Unknown::kByte, times * b);
    add(Unknown::kLatency, times * ways);
    add(Unknown::kComplete, times);
  };
  switch (point.kind) {
    case PointKind::kPost:
      add(Unknown::kPost, m);
      break;
    case PointKind::kPingpong:
      add_messages(m, 1);
      add(Unknown::kMatch, m);
      break;
    case PointKind::kSend:
    case PointKind::kGet:
      add_messages(m, 2);
      break;
    case PointKind::kAtomic:
      add_messages(m, 2);
      add(Unknown::kAtomic, m);
      break;
    case PointKind::kStream:
    case PointKind::kBurst:
      add_messages(1, 2);
      if (pace == Pace::kWire) {
        add(Unknown::kByte, (m - 1) * b);
      } else {
        add(pace == Pace::kPost ? Unknown::kPost : Unknown::kGap, m - 1);
      }
      // The last post of a stream, which alone asks for a completion, has time until its turn.
      if (point.kind == PointKind::kStream && m > 1 && pace != Pace::kPost) {
        add(Unknown::kSignal, -1);
      }
      break;
    case PointKind::kCopy:
      add(Unknown::kCopyStart, m);
      add(Unknown::kCopyByte, m * b);
      break;
    case PointKind::kBehind:
      break;
    case PointKind::kPostRecv:
      add(Unknown::kPostRecv, m);
      break;
    case PointKind::kSignaled:
      add(Unknown::kPost, m);
      add(Unknown::kSignal, m);
      break;
    case PointKind::kDrainRecv:
      add(Unknown::kMatch, m);
      [[fallthrough]];
    case PointKind::kDrain:
      add(Unknown::kPoll, std::ceil(m / reading.poll_batch));
      break;
  }
  return row;
}

Pace pace_under(const MeasuredPoint& point, const Unknowns& figures) {
  const double post = point.kind == PointKind::kStream ? figures[index_of(Unknown::kPost)] : 0;
  const double gap = figures[index_of(Unknown::kGap)];
  const double wire = figures[index_of(Unknown::kByte)] * static_cast<double>(point.bytes);
  if (point.kind == PointKind::kStream && post >= std::max(gap, wire)) return Pace::kPost;
  return gap >= wire ? Pace::kGap : Pace::kWire;
}

double predicted_s(const MeasuredPoint& point, const Unknowns& figures, std::uint32_t poll_batch) {
  const Unknowns row = row_of(point, pace_under(point, figures), {poll_batch, {}});
  double sum = 0;
  for (std::size_t j = 0; j < kUnknowns; ++j) sum += row[j] * figures[j];
  return sum;
}

Unknowns unknowns_of(const machine::Platform& platform) {
  Unknowns figures{};
  const auto set = [&](Unknown unknown, double value) { figures[index_of(unknown)] = value; };
  set(Unknown::kPost, sched::seconds(platform.o_post));
  set(Unknown::kComplete, sched::seconds(platform.o_complete));
  set(Unknown::kGap, sched::seconds(platform.gap));
  set(Unknown::kLatency, sched::seconds(platform.latency));
  set(Unknown::kByte, 1 / platform.rate.bytes_per_second());
  set(Unknown::kAtomic, sched::seconds(platform.atomic_service));
  set(Unknown::kCopyByte, 1 / platform.copy_rate.bytes_per_second());
  set(Unknown::kPostRecv, sched::seconds(platform.post_of_receive()));
  set(Unknown::kSignal, sched::seconds(platform.o_signal));
  set(Unknown::kPoll, sched::seconds(platform.o_poll));
  set(Unknown::kMatch, sched::seconds(platform.o_match));
  return figures;
}

}  // namespace slackline::analysis
