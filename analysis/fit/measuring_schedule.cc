#include "analysis/fit/measuring_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "sched/export/timeline.h"
#include "sched/program_writer.h"

namespace slackline::analysis {
namespace {

using sched::BufferId;
using sched::ChannelId;
using sched::OpId;
using sched::OpKind;
using sched::RankId;

constexpr std::uint64_t kMostLanes = 65536;
constexpr std::uint64_t kSmallBytes = 256;  // a packet of so many is let past large ones, if any is

bool in_turn(PointKind kind) {
  return kind == PointKind::kSend || kind == PointKind::kGet || kind == PointKind::kAtomic ||
         kind == PointKind::kCopy;
}
bool one_sided(PointKind kind) {
  return kind == PointKind::kGet || kind == PointKind::kAtomic || kind == PointKind::kCopy;
}
// All its messages come back, once rank 0 has posted its receives.
bool comes_back(PointKind kind) {
  return kind == PointKind::kPostRecv || kind == PointKind::kDrainRecv;
}
// The lane is kept busy until all completions are there.
bool drains(PointKind kind) { return kind == PointKind::kDrain || kind == PointKind::kDrainRecv; }
bool ends_with_a_post(PointKind kind) {
  return kind == PointKind::kPost || kind == PointKind::kPostRecv || kind == PointKind::kSignaled;
}
// Whether the program waits for each of its messages, and not just for the last on a channel.
bool waits_for_all(PointKind kind) {
  return kind != PointKind::kPost && kind != PointKind::kStream;
}
// Messages of `bytes` that rank 0 initiates: those back, and those ahead, are not among them.
std::uint64_t forth(const Measurement& m) {
  if (m.kind == PointKind::kBehind) return 1;
  if (comes_back(m.kind)) return 0;
  return m.kind == PointKind::kPingpong ? (m.messages + 1) / 2 : m.messages;
}
std::uint64_t back(const Measurement& m) {
  if (comes_back(m.kind)) return m.messages;
  return m.kind == PointKind::kPingpong ? m.messages / 2 : 0;
}
std::uint64_t ahead(const Measurement& m) { return m.kind == PointKind::kBehind ? m.messages : 0; }
std::uint64_t memory_of(const Measurement& m) {
  return ahead(m) * kAheadBytes + std::max(forth(m), m.messages - forth(m)) * m.bytes;
}

class Maker {
 public:
  Maker(std::span<const Measurement> measurements, std::uint64_t memory_bytes)
      : measurements_(measurements), builder_(2), memory_bytes_(memory_bytes) {
    std::uint64_t lanes = 1;
    for (const Measurement& m : measurements) {
      check(m);
      memory_bytes_ = std::max(memory_bytes_, memory_of(m));
      if (m.kind == PointKind::kBurst) lanes = std::max(lanes, m.messages);
    }
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      from_[rank] = builder_.add_buffer(RankId(rank), memory_bytes_);
      to_[rank] = builder_.add_buffer(RankId(rank), memory_bytes_);
      builder_.add_pre({{from_[rank], 0, memory_bytes_}, sched::ValueId(rank), 0});
    }
    word_ = builder_.add_buffer(RankId(1), kAtomicBytes);
    builder_.add_pre({{word_, 0, kAtomicBytes}, sched::ValueId(2), 0});
    back_ = channel(1, 0);
    control_ = channel(1, 0);
    over_ = channel(0, 1);
    ahead_ = channel(0, 1);
    beside_ = channel(0, 1);
    for (std::uint64_t lane = 0; lane < lanes; ++lane) out_.push_back(channel(0, 1));
  }

  MeasuringSchedule make() {
    // Ranks in order, so that what add() answers is the number in the schedule.
    for (const Measurement& m : measurements_) origin(m);
    end(0);
    at_ = 0;
    for (std::size_t i = 0; i < measurements_.size(); ++i) target(measurements_[i], places_[i]);
    end(1);
    return {builder_.build(), std::move(places_)};
  }

 private:
  static void check(const Measurement& m) {
    const bool fits = m.bytes <= kMaxPointBytes && m.messages >= 1 &&
                      m.messages <= (m.kind == PointKind::kBurst ? kMostLanes : kMaxPointMessages);
    if (fits && (m.kind != PointKind::kAtomic || m.bytes == kAtomicBytes)) return;
    throw InputError(fmt::format("a measurement of {} times {} bytes is no {}", m.messages, m.bytes,
                                 name(m.kind)));
  }

  ChannelId channel(std::uint32_t src, std::uint32_t dst) {
    return builder_.connect(RankId(src), RankId(dst));
  }

  // The next bytes of the memory of the measurement at hand, which begins where they fit in a row.
  void begin_memory(const Measurement& m) {
    if (at_ + memory_of(m) > memory_bytes_) at_ = 0;
    begin_at_ = at_;
    at_ += memory_of(m);
  }
  sched::SliceRange slice(BufferId buffer, std::uint64_t offset, std::uint64_t bytes) {
    return bytes == 0 ? sched::SliceRange{}
                      : builder_.add_slice({buffer, begin_at_ + offset, bytes});
  }

  OpId add(std::uint32_t rank, OpKind kind, ChannelId channel, sched::SliceRange reads = {},
           sched::SliceRange writes = {}, std::uint64_t lane = 0) {
    const sched::OpPlace at{RankId(rank), step_, static_cast<std::uint16_t>(lane)};
    own_.push_back(builder_.add(builder_.op(kind, at, channel, reads, writes)));
    return own_.back();
  }
  OpId send(ChannelId on, BufferId from, std::uint64_t offset, std::uint64_t bytes,
            std::uint64_t lane = 0) {
    return add(builder_.channel(on).src.value, OpKind::kSend, on, slice(from, offset, bytes), {},
               lane);
  }
  OpId recv(ChannelId on, BufferId to, std::uint64_t offset, std::uint64_t bytes) {
    return add(builder_.channel(on).dst.value, OpKind::kRecv, on, {}, slice(to, offset, bytes));
  }

  // Nothing waits for its end, so that its post asks for no completion.
  OpId unawaited(OpId op) {
    own_.pop_back();
    posted_.push_back(op);
    return op;
  }
  // The lane's, until what was posted has completed: for a millisecond, and at 1 Gb/s.
  OpId busy(const Measurement& m) {
    const double bytes = static_cast<double>(m.bytes) * static_cast<double>(m.messages);
    const sched::Time duration{static_cast<std::int64_t>(std::min(1e9 + 8e3 * bytes, 9e18))};
    own_.push_back(builder_.calc({RankId(0), step_, 0}, duration));
    return own_.back();
  }

  OpId after_own(OpId op) {
    for (const OpId before : own_) {
      if (before != op) builder_.add_edge(before, op);
    }
    for (const OpId before : posted_) builder_.add_edge(before, op, sched::On::kIssued);
    own_.clear();
    posted_.clear();
    own_.push_back(op);
    return op;
  }

  // A join that waits for all of the rank's operations since the one before. Rank 1 is told when
  // rank 0 is through, so that it disturbs no measurement with word of the next.
  void begin(std::uint32_t rank) {
    if (rank == 0 && begin_.valid()) after_own(send(over_, from_[0], 0, 0));
    begin_ = after_own(add(rank, OpKind::kJoin, ChannelId::none()));
    own_.clear();
  }

  // Somebody waits for the completions of the last measurement, too. Then comes one more message on
  // the channels whose posts may go without: the last of a channel cannot.
  void end(std::uint32_t rank) {
    const OpId join = after_own(add(rank, OpKind::kJoin, ChannelId::none()));
    for (const ChannelId channel : {out_[0], ahead_}) {
      const OpKind kind = rank == 0 ? OpKind::kSend : OpKind::kRecv;
      builder_.add_edge(join, add(rank, kind, channel));
    }
    own_.clear();
  }

  // Rank 0, whose clock it is.
  void origin(const Measurement& m) {
    step_ = static_cast<std::uint32_t>(places_.size());
    begin_memory(m);
    begin(0);
    std::vector<OpId> replies;
    for (std::uint64_t i = 0; m.kind == PointKind::kPingpong && i < m.messages / 2; ++i) {
      replies.push_back(recv(back_, to_[0], i * m.bytes, m.bytes));
      builder_.add_edge(begin_, replies.back());
    }
    const OpId ready = recv(control_, to_[0], 0, 0);
    builder_.add_edge(begin_, ready);
    const OpId start = add(0, OpKind::kJoin, ChannelId::none());
    builder_.add_edge(ready, start);
    for (const OpId reply : replies) builder_.add_edge(reply, start, sched::On::kIssued);
    OpId first = OpId::none();
    const auto started = [&](OpId op) {
      builder_.add_edge(start, op);
      if (!first.valid()) first = op;
    };
    for (std::uint64_t i = 0; i < ahead(m); ++i) {
      started(unawaited(send(ahead_, from_[0], i * kAheadBytes, kAheadBytes)));
    }
    OpId last = OpId::none();
    for (std::uint64_t i = 0; i < forth(m); ++i) {
      const OpId op = operation(m, i);
      started(op);
      if (in_turn(m.kind) && i > 0) builder_.add_edge(last, op);
      if (m.kind == PointKind::kPingpong && i > 0) builder_.add_edge(replies[i - 1], op);
      if (!waits_for_all(m.kind) && (i + 1 < forth(m) || m.kind == PointKind::kPost)) unawaited(op);
      last = op;
    }
    if (comes_back(m.kind)) {
      for (std::uint64_t i = 0; i < back(m); ++i) {
        last = recv(back_, to_[0], i * m.bytes, m.bytes);
        started(last);
        replies.push_back(last);
      }
      const OpId word = unawaited(send(ahead_, from_[0], 0, 0));
      for (const OpId reply : replies) builder_.add_edge(reply, word, sched::On::kIssued);
      if (drains(m.kind)) first = after_calculation(m, word);
    } else if (drains(m.kind)) {
      first = after_calculation(m, last);
    }
    // An odd last message of a ping-pong ends at rank 1: target() says where.
    if (!replies.empty()) last = replies.back();
    places_.push_back({m, first, last});
  }

  // When the lane is free again, which a calculation keeps from the issue of `posted` on.
  OpId after_calculation(const Measurement& m, OpId posted) {
    const OpId calc = busy(m);
    builder_.add_edge(posted, calc, sched::On::kIssued);
    const OpId free = add(0, OpKind::kJoin, ChannelId::none());
    builder_.add_edge(calc, free);
    return free;
  }

  OpId operation(const Measurement& m, std::uint64_t i) {
    const std::uint64_t offset = ahead(m) * kAheadBytes + i * m.bytes;
    switch (m.kind) {
      case PointKind::kGet:
        return add(0, OpKind::kGet, out_[0], slice(from_[1], offset, m.bytes),
                   slice(to_[0], offset, m.bytes));
      case PointKind::kAtomic: {
        const sched::SliceRange word = builder_.add_slice({word_, 0, kAtomicBytes});
        return add(0, OpKind::kFetchAdd, out_[0], word, word);
      }
      case PointKind::kCopy:
        return add(0, OpKind::kCopy, ChannelId::none(), slice(from_[0], offset, m.bytes),
                   slice(to_[0], offset, m.bytes));
      default:
        return send(channel_of(m, i), from_[0], offset, m.bytes,
                    m.kind == PointKind::kBurst ? i : 0);
    }
  }
  // Of the message i that rank 0 sends. A small one that is to be let past large ones has a channel
  // that carries no large ones, as credits have: no network lets a message past those of its own.
  ChannelId channel_of(const Measurement& m, std::uint64_t i) const {
    if (m.kind == PointKind::kBehind && m.bytes <= kSmallBytes) return beside_;
    return out_[m.kind == PointKind::kBurst ? i : 0];
  }

  // Rank 1: its receives, then word to rank 0, then its part of a ping-pong.
  void target(const Measurement& m, MeasuringSchedule::Place& place) {
    step_ = static_cast<std::uint32_t>(&place - places_.data());
    begin_memory(m);
    begin(1);
    std::vector<OpId> posted;
    for (std::uint64_t i = 0; !one_sided(m.kind) && i < forth(m); ++i) {
      posted.push_back(
          recv(channel_of(m, i), to_[1], ahead(m) * kAheadBytes + i * m.bytes, m.bytes));
    }
    for (std::uint64_t i = 0; i < ahead(m); ++i) {
      posted.push_back(recv(ahead_, to_[1], i * kAheadBytes, kAheadBytes));
    }
    if (comes_back(m.kind)) posted.push_back(recv(ahead_, to_[1], 0, 0));
    if (&place != &places_.back()) posted.push_back(recv(over_, to_[1], 0, 0));
    const OpId ready = send(control_, from_[1], 0, 0);
    builder_.add_edge(begin_, ready);
    for (const OpId op : posted) {
      builder_.add_edge(begin_, op);
      builder_.add_edge(op, ready, sched::On::kIssued);
    }
    for (std::uint64_t i = 0; i < back(m); ++i) {
      const OpId cause = comes_back(m.kind) ? posted.front() : posted[i];
      builder_.add_edge(cause, send(back_, from_[1], i * m.bytes, m.bytes));
    }
    if (m.kind == PointKind::kPingpong && m.messages % 2 == 1) place.last = posted[forth(m) - 1];
  }

  std::span<const Measurement> measurements_;
  sched::ProgramWriter builder_;
  std::uint64_t memory_bytes_;
  BufferId from_[2], to_[2], word_;
  ChannelId back_, control_, over_, ahead_, beside_;
  std::vector<ChannelId> out_;  // by lane
  std::vector<MeasuringSchedule::Place> places_;

  // Of the measurement at hand, and its rank.
  std::uint32_t step_ = 0;
  std::uint64_t at_ = 0;  // where the memory is not yet used
  std::uint64_t begin_at_ = 0;
  OpId begin_;
  std::vector<OpId> own_;     // of which the next join waits for the end,
  std::vector<OpId> posted_;  // or for the post alone
};

}  // namespace

MeasuringSchedule measuring_schedule(std::span<const Measurement> measurements,
                                     std::uint64_t memory_bytes) {
  return Maker(measurements, memory_bytes).make();
}

std::vector<MeasuredPoint> points_of(const MeasuringSchedule& measuring, const sched::Trace& trace,
                                     Issued issued) {
  sched::require_same(measuring.schedule, trace);
  std::vector<MeasuredPoint> points;
  for (const MeasuringSchedule::Place& place : measuring.places) {
    const Measurement& m = place.measurement;
    const sched::OpTimes& last = trace.ops[place.last.value];
    const double end_s = ends_with_a_post(m.kind) ? last.issued_s : last.done_s;
    double seconds = end_s - trace.ops[place.first.value].ready_s;
    if (ends_with_a_post(m.kind) && issued == Issued::kBeforeThePost && m.messages > 1) {
      seconds *= static_cast<double>(m.messages) / static_cast<double>(m.messages - 1);
    }
    // Where seeing completions takes no lane, all were seen while it was kept busy.
    if (drains(m.kind)) seconds = std::max(seconds, 0.0);
    if (!std::isfinite(seconds)) {
      throw InputError(fmt::format("the run did not come to the end of {} times {} bytes of {}",
                                   m.messages, m.bytes, name(m.kind)));
    }
    points.push_back({m.kind, m.bytes, m.messages, seconds});
  }
  return points;
}

}  // namespace slackline::analysis
