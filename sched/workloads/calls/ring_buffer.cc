#include "sched/workloads/calls/ring_buffer.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "sched/pattern/shared_options.h"
#include "sched/program_writer.h"
#include "sched/workloads/calls/message_limits.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kNumberBytes = 8;  // of the number behind a message

// How many reports a receiver makes: as many as the root's last message waits for.
std::uint32_t report_count(const Spec& spec) {
  if (spec.messages <= spec.slots) return 0;
  return (spec.messages - spec.slots - 1) / ring_batch(spec) + 1;
}

void check(const Spec& spec) {
  check(spec.multicast);
  if (spec.slots == 0) throw InputError("slots: 0; expected at least 1");
  check_message_limits(spec, kNumberBytes, ring_buffer_ops);
}

class RingBuffer {
 public:
  explicit RingBuffer(const Spec& spec)
      : spec_(spec),
        ranks_(spec.multicast.ranks),
        messages_(spec.messages),
        bytes_(spec.multicast.bytes),
        root_(spec.multicast.root),
        in_place_(spec.own<RingOptions>().in_place),
        slots_(std::min(spec.slots, spec.messages)),
        batch_(ring_batch(spec)),
        reports_(report_count(spec)),
        stride_(bytes_ + kNumberBytes),
        out_(ranks_) {}

  Schedule run() {
    out_.reserve(ring_buffer_ops(spec_), 4 * ring_buffer_ops(spec_), 0);
    out_.set_title(format_spec(spec_));
    out_.set_message_bytes(messages_ * bytes_);
    source_ = out_.add_buffer(root_, messages_ * stride_);
    for (std::uint32_t m = 0; m < messages_; ++m) {
      const Fact message{{source_, m * stride_, bytes_}, ValueId(m), 0};
      out_.add_pre(message);
      out_.add_post(message);
      out_.add_pre(
          {{source_, m * stride_ + bytes_, kNumberBytes}, ValueId(messages_), m * kNumberBytes});
    }
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      if (RankId(r) != root_) add_receiver(RankId(r));
    }
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      RankId(r) == root_ ? add_root_program() : add_program(of_rank(r));
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
  Receiver& of_rank(std::uint32_t rank) { return receivers_[rank < root_.value ? rank : rank - 1]; }
  // A word is free again when the root has seen its report: no more of them are ever under way than
  // a ring has batches.
  std::uint32_t words() const { return slots_ / batch_; }

  void add_receiver(RankId rank) {
    Receiver receiver;
    receiver.rank = rank;
    if (reports_ != 0) {
      receiver.reports = out_.connect(rank, root_);
      const BufferId count = out_.add_buffer(rank, kNumberBytes);
      receiver.count = out_.add_slice({count, 0, kNumberBytes});
      out_.add_pre({{count, 0, kNumberBytes}, ValueId(messages_ + 1), 0});
      receiver.words = out_.add_buffer(root_, words() * kNumberBytes);
    }
    receiver.data = out_.connect(root_, rank);
    if (reports_ != 0) {
      out_.channel(receiver.data).credit_on = receiver.reports;
      out_.channel(receiver.data).credit_batch = batch_;
    }
    receiver.ring = out_.add_buffer(rank, slots_ * stride_);
    if (!in_place_) {
      receiver.place = out_.add_buffer(rank, messages_ * bytes_);
    }
    for (std::uint32_t m = in_place_ ? messages_ - slots_ : 0; m < messages_; ++m) {
      const Slice at = in_place_ ? Slice{receiver.ring, slot_offset(m), bytes_}
                                 : Slice{receiver.place, m * bytes_, bytes_};
      out_.add_post({at, ValueId(m), 0});
    }
    receivers_.push_back(std::move(receiver));
  }

  std::uint64_t slot_offset(std::uint32_t message) const { return message % slots_ * stride_; }
  Slice slot(const Receiver& receiver, std::uint32_t message) const {
    return {receiver.ring, slot_offset(message), stride_};
  }
  // The message that waits for a report first.
  std::uint32_t waits_for(std::uint32_t report) const { return slots_ + report * batch_; }

  void add_root_program() {
    for (std::uint32_t m = 0; m < messages_; ++m) {
      const SliceRange message = out_.add_slice({source_, m * stride_, stride_});
      for (Receiver& receiver : receivers_) {
        const auto report = static_cast<std::uint32_t>(receiver.report_polls.size());
        const bool waits = report < reports_ && waits_for(report) == m;
        if (waits) add_report_poll(receiver, report);
        // Later ones follow by the order of their channel.
        const OpId room = waits ? receiver.report_polls.back() : OpId::none();
        receiver.puts.push_back(
            out_.put({root_, m}, receiver.data, message, slot(receiver, m), Notify::kFlag, {room}));
      }
    }
  }

  Slice word(const Receiver& receiver, std::uint32_t report) const {
    return {receiver.words, report % words() * kNumberBytes, kNumberBytes};
  }

  void add_report_poll(Receiver& receiver, std::uint32_t report) {
    const OpId last = report > 0 ? receiver.report_polls.back() : OpId::none();
    receiver.report_polls.push_back(
        out_.poll({root_, waits_for(report)}, word(receiver, report), {last}));
  }

  void add_program(Receiver& receiver) {
    std::vector<OpId> consumed;  // since the last report
    for (std::uint32_t m = 0; m < messages_; ++m) {
      const OpPlace at{receiver.rank, m};
      const OpId last = m > 0 ? receiver.polls.back() : OpId::none();
      const OpId poll = out_.poll(at, end_of(slot(receiver, m), kNumberBytes), {last});
      receiver.polls.push_back(poll);
      consumed.push_back(poll);
      if (!in_place_) {
        consumed.back() = out_.copy(at, {{receiver.ring, slot_offset(m), bytes_}},
                                    {{receiver.place, m * bytes_, bytes_}}, {poll});
      }
      const auto report = static_cast<std::uint32_t>(receiver.report_puts.size());
      if (consumed.size() < batch_ || report == reports_) continue;
      receiver.report_puts.push_back(out_.put({receiver.rank, waits_for(report)}, receiver.reports,
                                              receiver.count, word(receiver, report),
                                              Notify::kFlag));
      out_.after(consumed, receiver.report_puts.back());
      consumed.clear();
    }
  }

  void add_matches(const Receiver& receiver) {
    for (std::size_t m = 0; m < receiver.puts.size(); ++m) {
      out_.add_flag_match(receiver.puts[m], receiver.polls[m]);
    }
    for (std::size_t i = 0; i < receiver.report_puts.size(); ++i) {
      out_.add_flag_match(receiver.report_puts[i], receiver.report_polls[i]);
    }
  }

  const Spec& spec_;
  const std::uint32_t ranks_;
  const std::uint32_t messages_;
  const std::uint64_t bytes_;  // of a message
  const RankId root_;
  const bool in_place_;
  const std::uint32_t slots_;
  const std::uint32_t batch_;
  const std::uint32_t reports_;  // of each receiver
  const std::uint64_t stride_;   // of messages with their numbers
  ProgramWriter out_;
  BufferId source_;
  std::vector<Receiver> receivers_;
};

}  // namespace

Schedule ring_buffer(const Spec& spec) {
  check(spec);
  return RingBuffer(spec).run();
}

std::uint32_t ring_batch(const Spec& spec) { return std::max(1u, spec.slots / 2); }

std::uint64_t ring_buffer_ops(const Spec& spec) {
  const std::uint64_t per_message = spec.own<RingOptions>().in_place ? 2 : 3;
  return (spec.multicast.ranks - 1) *
         (per_message * spec.messages + std::uint64_t{2} * report_count(spec));
}

namespace {

constexpr auto kRingOptions =
    option_list(kRanksOption, kBytesOption, kRootOption, kMessagesOption, kSlotsOption,
                choice_option<&RingOptions::in_place>(
                    "consume", "copy|in-place", "ring-buffer: messages are copied out, or not"));

}  // namespace

constinit const PatternEntry kRingBufferPattern = {
    .name = "ring-buffer",
    .summary = "small messages written into bounded buffers, one per receiver",
    .options = kRingOptions,
    .schedule = ring_buffer,
    .op_count = ring_buffer_ops,
    .op_memory = 320,
    .multicast = true,
    .bus = BusUse::kOnce};

}  // namespace slackline::sched
