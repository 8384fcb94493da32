// Measured points, from the event engine in the place of a machine: the schedule of each kind as
// analysis/calibration_points.h has it, with the times taken from its trace.
#pragma once

#include <vector>

#include "analysis/calibration_points.h"
#include "analysis/event_engine.h"
#include "machine/platform.h"
#include "tests/unit/analysis/program.h"

namespace slackline::testing {

using analysis::MeasuredPoint;
using analysis::PointKind;

class Measurement {
 public:
  Measurement(PointKind kind, std::uint64_t bytes, std::uint64_t messages)
      : kind_(kind), bytes_(bytes), messages_(messages), program_(2) {
    out_ = program_.channel(0, 1);
    back_ = program_.channel(1, 0);
    control_ = program_.channel(1, 0);
    ahead_ = program_.channel(0, 1);
  }

  MeasuredPoint on(const machine::Platform& platform) {
    origin();
    target();
    const sched::Trace trace = analysis::run_events(program_.build(), platform);
    const double start_s = trace.ops[first_.value].ready_s;
    const sched::OpTimes& last = trace.ops[last_.value];
    const double end_s = kind_ == PointKind::kPost ? last.issued_s : last.done_s;
    return {kind_, bytes_, messages_, end_s - start_s};
  }

 private:
  // Rank 0, whose clock it is.
  void origin() {
    const OpId ready = program_.recv(control_, 0);
    std::vector<OpId> replies;
    if (kind_ == PointKind::kPingpong) {
      for (std::uint64_t i = 1; i < messages_; i += 2) {
        replies.push_back(program_.recv(back_, bytes_));
      }
    }
    const OpId start = program_.join(0);
    program_.after({ready}, start);
    for (const OpId reply : replies) program_.after({reply}, start, sched::On::kIssued);
    const bool in_turn = kind_ == PointKind::kSend || kind_ == PointKind::kGet ||
                         kind_ == PointKind::kAtomic || kind_ == PointKind::kCopy;
    const std::uint64_t ahead = kind_ == PointKind::kBehind ? messages_ : 0;
    for (std::uint64_t i = 0; i < ahead; ++i) {
      const OpId op = program_.send(ahead_, analysis::kAheadBytes);
      program_.after({start}, op);
      if (i == 0) first_ = op;
    }
    const std::uint64_t own = kind_ == PointKind::kBehind     ? 1
                              : kind_ == PointKind::kPingpong ? (messages_ + 1) / 2
                                                              : messages_;
    for (std::uint64_t i = 0; i < own; ++i) {
      const OpId op = operation(i);
      program_.after({start}, op);
      if (in_turn && i > 0) program_.after({last_}, op);
      if (kind_ == PointKind::kPingpong && i > 0) program_.after({replies[i - 1]}, op);
      if (i == 0 && ahead == 0) first_ = op;
      last_ = op;
    }
    if (!replies.empty()) last_ = replies.back();
  }

  OpId operation(std::uint64_t i) {
    switch (kind_) {
      case PointKind::kGet:
        return program_.get(out_, bytes_);
      case PointKind::kAtomic:
        return program_.fetch_add(out_, 0);
      case PointKind::kCopy:
        return program_.copy(0, bytes_);
      case PointKind::kBurst:
        return program_.send(i == 0 ? out_ : program_.channel(0, 1), bytes_,
                             static_cast<std::uint16_t>(i));
      default:
        return program_.send(out_, bytes_);
    }
  }

  // Rank 1: its receives, then word to rank 0, then its part of a ping-pong.
  void target() {
    std::vector<OpId> posted;
    const bool one_sided =
        kind_ == PointKind::kGet || kind_ == PointKind::kAtomic || kind_ == PointKind::kCopy;
    if (!one_sided) {
      const std::uint64_t own = kind_ == PointKind::kBehind     ? 1
                                : kind_ == PointKind::kPingpong ? (messages_ + 1) / 2
                                                                : messages_;
      for (std::uint64_t i = 0; i < own; ++i) {
        // The channels of a burst's lanes, but for its first, were made after the four others.
        const bool first = kind_ != PointKind::kBurst || i == 0;
        const ChannelId channel =
            first ? out_ : ChannelId(ahead_.value + static_cast<std::uint32_t>(i));
        posted.push_back(program_.recv(channel, bytes_));
      }
      for (std::uint64_t i = 0; kind_ == PointKind::kBehind && i < messages_; ++i) {
        posted.push_back(program_.recv(ahead_, analysis::kAheadBytes));
      }
    }
    const OpId ready = program_.send(control_, 0);
    for (const OpId recv : posted) program_.after({recv}, ready, sched::On::kIssued);
    for (std::uint64_t i = 0; kind_ == PointKind::kPingpong && i < messages_ / 2; ++i) {
      program_.after({posted[i]}, program_.send(back_, bytes_));
    }
    if (kind_ == PointKind::kPingpong && messages_ % 2 == 1) last_ = posted.back();
  }

  PointKind kind_;
  std::uint64_t bytes_;
  std::uint64_t messages_;
  Program program_;
  ChannelId out_, back_, control_, ahead_;
  OpId first_, last_;
};

inline MeasuredPoint measured(PointKind kind, std::uint64_t bytes, std::uint64_t messages,
                              const machine::Platform& platform) {
  return Measurement(kind, bytes, messages).on(platform);
}

}  // namespace slackline::testing
