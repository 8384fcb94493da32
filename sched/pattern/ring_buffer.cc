#include "sched/pattern/ring_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "sched/builder.h"
#include "sched/error.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kNumberBytes = 8;  // of the number behind a message

// How many reports a receiver makes: as many as the root's last message waits for.
std::uint32_t report_count(const SeriesOptions& options) {
  if (options.messages <= options.slots) return 0;
  return (options.messages - options.slots - 1) / ring_batch(options) + 1;
}

void check(const SeriesOptions& options) {
  if (options.ranks == 0) throw InputError("ranks: 0; expected at least 1");
  if (options.messages == 0) throw InputError("messages: 0; expected at least 1");
  if (options.slots == 0) throw InputError("slots: 0; expected at least 1");
  if (options.root.value >= options.ranks) {
    throw InputError(fmt::format("root: {} is no rank; expected 0 to {}", options.root.value,
                                 options.ranks - 1));
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (options.bytes > kMost / options.messages - kNumberBytes) {
    throw InputError(fmt::format("messages: {} of {} bytes; expected less than {} bytes together",
                                 options.messages, options.bytes, kMost));
  }
  if (ring_buffer_ops(options) >= 1ull << 31) {
    throw InputError(fmt::format("messages: {} to {} ranks make {} operations; expected less",
                                 options.messages, options.ranks - 1, ring_buffer_ops(options)));
  }
}

class RingBuffer {
 public:
  explicit RingBuffer(const SeriesOptions& options)
      : options_(options),
        slots_(std::min(options.slots, options.messages)),
        batch_(ring_batch(options)),
        reports_(report_count(options)),
        stride_(options.bytes + kNumberBytes),
        out_(options.ranks) {}

  Schedule run() {
    out_.reserve(ring_buffer_ops(options_), 4 * ring_buffer_ops(options_), 0);
    out_.set_title(options_.title);
    out_.set_message_bytes(options_.messages * options_.bytes);
    source_ = out_.add_buffer(options_.root, options_.messages * stride_);
    for (std::uint32_t m = 0; m < options_.messages; ++m) {
      const Fact message{{source_, m * stride_, options_.bytes}, ValueId(m), 0};
      out_.add_pre(message);
      out_.add_post(message);
      out_.add_pre({{source_, m * stride_ + options_.bytes, kNumberBytes},
                    ValueId(options_.messages),
                    m * kNumberBytes});
    }
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      if (RankId(r) != options_.root) add_receiver(RankId(r));
    }
    for (std::uint32_t r = 0; r < options_.ranks; ++r) {
      RankId(r) == options_.root ? add_root_program() : add_program(of_rank(r));
    }
    for (const Receiver& receiver : receivers_) add_matches(receiver);
    return out_.build();
  }

 private:
  struct Receiver {
    RankId rank;
    ChannelId data;
    ChannelId reports;
    BufferId ring;
    BufferId place;          // where messages are copied to
    SliceRange count;        // the local word that reports carry
    BufferId words;          // at the root: where they land
    std::vector<OpId> puts;  // by message
    std::vector<OpId> polls;
    std::vector<OpId> report_puts;  // by report
    std::vector<OpId> report_polls;
  };

  // The receivers stand in order of rank.
  Receiver& of_rank(std::uint32_t rank) {
    return receivers_[rank < options_.root.value ? rank : rank - 1];
  }
  // A word is free again when the root has seen its report: no more of them are ever under way than
  // a ring has batches.
  std::uint32_t words() const { return slots_ / batch_; }

  void add_receiver(RankId rank) {
    Receiver receiver;
    receiver.rank = rank;
    Channel data;
    data.src = options_.root;
    data.dst = rank;
    if (reports_ != 0) {
      Channel back;
      back.src = rank;
      back.dst = options_.root;
      receiver.reports = out_.add_channel(back);
      data.credit_on = receiver.reports;
      data.credit_batch = batch_;
      const BufferId count = out_.add_buffer(rank, kNumberBytes);
      receiver.count = out_.add_slice({count, 0, kNumberBytes});
      out_.add_pre({{count, 0, kNumberBytes}, ValueId(options_.messages + 1), 0});
      receiver.words = out_.add_buffer(options_.root, words() * kNumberBytes);
    }
    receiver.data = out_.add_channel(data);
    receiver.ring = out_.add_buffer(rank, slots_ * stride_);
    if (options_.copy_out) {
      receiver.place = out_.add_buffer(rank, options_.messages * options_.bytes);
    }
    for (std::uint32_t m = options_.copy_out ? 0 : options_.messages - slots_;
         m < options_.messages; ++m) {
      const Slice at = options_.copy_out ? Slice{receiver.place, m * options_.bytes, options_.bytes}
                                         : Slice{receiver.ring, slot_offset(m), options_.bytes};
      out_.add_post({at, ValueId(m), 0});
    }
    receivers_.push_back(std::move(receiver));
  }

  std::uint64_t slot_offset(std::uint32_t message) const { return message % slots_ * stride_; }
  // The message that waits for a report first.
  std::uint32_t waits_for(std::uint32_t report) const { return slots_ + report * batch_; }

  void add_root_program() {
    for (std::uint32_t m = 0; m < options_.messages; ++m) {
      const SliceRange message = out_.add_slice({source_, m * stride_, stride_});
      for (Receiver& receiver : receivers_) {
        const auto report = static_cast<std::uint32_t>(receiver.report_polls.size());
        const bool waits = report < reports_ && waits_for(report) == m;
        if (waits) add_report_poll(receiver, report);
        Op op;
        op.kind = OpKind::kPut;
        op.notify = Notify::kFlag;
        op.rank = options_.root;
        op.step = m;
        op.channel = receiver.data;
        op.reads = message;
        op.writes = out_.add_slice({receiver.ring, slot_offset(m), stride_});
        receiver.puts.push_back(out_.add(op));
        // Later ones follow by the order of their channel.
        if (waits) out_.add_edge(receiver.report_polls.back(), receiver.puts.back());
      }
    }
  }

  SliceRange word(const Receiver& receiver, std::uint32_t report) {
    return out_.add_slice({receiver.words, report % words() * kNumberBytes, kNumberBytes});
  }

  void add_report_poll(Receiver& receiver, std::uint32_t report) {
    Op op;
    op.kind = OpKind::kPoll;
    op.rank = options_.root;
    op.step = waits_for(report);
    op.reads = word(receiver, report);
    const OpId poll = out_.add(op);
    if (report > 0) out_.add_edge(receiver.report_polls.back(), poll);
    receiver.report_polls.push_back(poll);
  }

  void add_program(Receiver& receiver) {
    std::vector<OpId> consumed;  // since the last report
    for (std::uint32_t m = 0; m < options_.messages; ++m) {
      Op op;
      op.kind = OpKind::kPoll;
      op.rank = receiver.rank;
      op.step = m;
      op.reads = out_.add_slice({receiver.ring, slot_offset(m) + options_.bytes, kNumberBytes});
      const OpId poll = out_.add(op);
      if (m > 0) out_.add_edge(receiver.polls.back(), poll);
      receiver.polls.push_back(poll);
      consumed.push_back(poll);
      if (options_.copy_out) {
        op.kind = OpKind::kCopy;
        op.reads = out_.add_slice({receiver.ring, slot_offset(m), options_.bytes});
        op.writes = out_.add_slice({receiver.place, m * options_.bytes, options_.bytes});
        consumed.back() = out_.add(op);
        out_.add_edge(poll, consumed.back());
      }
      const auto report = static_cast<std::uint32_t>(receiver.report_puts.size());
      if (consumed.size() < batch_ || report == reports_) continue;
      receiver.report_puts.push_back(add_report(receiver, report));
      for (const OpId op_done : consumed) out_.add_edge(op_done, receiver.report_puts.back());
      consumed.clear();
    }
  }

  OpId add_report(const Receiver& receiver, std::uint32_t report) {
    Op op;
    op.kind = OpKind::kPut;
    op.notify = Notify::kFlag;
    op.rank = receiver.rank;
    op.step = waits_for(report);
    op.channel = receiver.reports;
    op.reads = receiver.count;
    op.writes = word(receiver, report);
    return out_.add(op);
  }

  void add_matches(const Receiver& receiver) {
    for (std::size_t m = 0; m < receiver.puts.size(); ++m) {
      out_.add_flag_match(receiver.puts[m], receiver.polls[m]);
    }
    for (std::size_t i = 0; i < receiver.report_puts.size(); ++i) {
      out_.add_flag_match(receiver.report_puts[i], receiver.report_polls[i]);
    }
  }

  const SeriesOptions& options_;
  const std::uint32_t slots_;
  const std::uint32_t batch_;
  const std::uint32_t reports_;  // of each receiver
  const std::uint64_t stride_;   // of messages with their numbers
  ScheduleBuilder out_;
  BufferId source_;
  std::vector<Receiver> receivers_;
};

}  // namespace

Schedule ring_buffer(const SeriesOptions& options) {
  check(options);
  return RingBuffer(options).run();
}

std::uint32_t ring_batch(const SeriesOptions& options) { return std::max(1u, options.slots / 2); }

std::uint64_t ring_buffer_ops(const SeriesOptions& options) {
  const std::uint64_t per_message = options.copy_out ? 3 : 2;
  return (options.ranks - 1) *
         (per_message * options.messages + std::uint64_t{2} * report_count(options));
}

}  // namespace slackline::sched
