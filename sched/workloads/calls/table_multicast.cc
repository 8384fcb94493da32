#include "sched/workloads/calls/table_multicast.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "sched/pattern/shared_options.h"
#include "sched/program_writer.h"
#include "sched/workloads/calls/message_limits.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kWordBytes = 8;  // of a count, and of the word behind data

// What a member writes to another: data, and the counts of its row. Of each there is one a batch.
enum class Written : std::uint8_t { kCounter, kReceived, kDelivered, kData };

std::uint32_t batch_count(const Spec& spec) {
  return (spec.messages - 1) / spec.own<TableOptions>().batch + 1;
}

// Batches that there are slots for.
std::uint32_t room_count(const Spec& spec) {
  return std::min(spec.slots / spec.own<TableOptions>().batch, batch_count(spec));
}

std::uint32_t sender_count(const Spec& spec) { return spec.own<TableOptions>().senders; }

void check(const Spec& spec) {
  check(spec.multicast);
  const std::uint32_t batch = spec.own<TableOptions>().batch;
  const std::uint32_t senders = sender_count(spec);
  if (senders == 0 || senders > spec.multicast.ranks) {
    throw InputError(
        fmt::format("senders: {}; expected 1 to {}, the ranks", senders, spec.multicast.ranks));
  }
  if (batch == 0) throw InputError("batch: 0; expected at least 1");
  if (spec.slots == 0 || spec.slots % batch != 0) {
    throw InputError(fmt::format("slots: {}; expected a multiple of the batch, as {}", spec.slots,
                                 (spec.slots / batch + std::uint64_t{1}) * batch));
  }
  if (std::uint64_t{spec.messages} * senders > kMostCount) {
    throw InputError(fmt::format("messages: {} of each of {} senders; expected at most {} together",
                                 spec.messages, senders, kMostCount));
  }
  check_message_limits(spec, kWordBytes, table_multicast_ops, senders);
}

class TableMulticast {
 public:
  explicit TableMulticast(const Spec& spec)
      : spec_(spec),
        ranks_(spec.multicast.ranks),
        bytes_(spec.multicast.bytes),
        root_(spec.multicast.root),
        stable_(spec.own<TableOptions>().stable),
        senders_(sender_count(spec)),
        messages_(std::uint64_t{senders_} * spec.messages),
        batch_(spec.own<TableOptions>().batch),
        batches_(batch_count(spec)),
        rooms_(room_count(spec)),
        stride_(std::uint64_t{batch_} * bytes_ + kWordBytes),
        row_bytes_(std::uint64_t{stable_ ? 3u : 2u} * senders_ * batches_ * kWordBytes),
        out_(ranks_),
        freed_(senders_),
        delivered_(ranks_) {}

  Schedule run() {
    out_.reserve(table_multicast_ops(spec_), 2 * table_multicast_ops(spec_), 0);
    out_.set_title(format_spec(spec_));
    out_.set_message_bytes(messages_ * bytes_);
    for (std::uint32_t r = 0; r < ranks_; ++r) add_memory(RankId(r));
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (std::uint32_t b = 0; b < batches_; ++b) {
        for (std::uint32_t s = 0; s < senders_; ++s) {
          const Turn turn{sender(s), s, b};
          turn.from == RankId(r) ? add_own_batch(turn) : add_batch(RankId(r), turn);
        }
      }
    }
    for (const auto& [key, way] : ways_) {
      for (std::size_t b = 0; b < way.puts.size(); ++b) {
        out_.add_flag_match(way.puts[b], way.polls[b]);
      }
    }
    return out_.build();
  }

 private:
  // Batch by batch, and in each by sender: the order in which all deliver what is stable.
  struct Turn {
    RankId from;
    std::uint32_t number;  // the sender's, among them
    std::uint32_t batch;
  };
  struct Memory {
    BufferId table;  // a row for each member
    // By sender:
    std::vector<BufferId> slots;  // not of the rank's own
    // Where messages stand in the end; at their sender with a word behind each batch.
    std::vector<BufferId> place;
  };
  // What is polled for, by batch.
  struct Way {
    std::vector<OpId> puts;
    std::vector<OpId> polls;
  };

  RankId sender(std::uint32_t number) const {
    return RankId(static_cast<std::uint32_t>((root_.value + std::uint64_t{number}) % ranks_));
  }
  OpPlace at(RankId rank, const Turn& turn) const {
    return {rank, turn.batch * senders_ + turn.number};
  }
  // Where messages of a batch, with the word behind, stand at their sender.
  Slice source(const Turn& turn) const {
    return {memory_[turn.from.value].place[turn.number], turn.batch * stride_,
            data_bytes(turn) + kWordBytes};
  }
  // Where they land. The last batch may have fewer messages: all words have a place of their own,
  // since polls that share a flag look at the same bytes.
  Slice slots(RankId rank, const Turn& turn) const {
    const std::uint64_t end = (turn.batch % rooms_ + 1) * stride_;
    const std::uint64_t bytes = data_bytes(turn) + kWordBytes;
    return {memory_[rank.value].slots[turn.number], end - bytes, bytes};
  }
  std::uint64_t data_bytes(const Turn& turn) const {
    return std::min(batch_, spec_.messages - turn.batch * batch_) * bytes_;
  }
  // A count in the row of `of` at `rank`.
  Slice word(RankId rank, RankId of, Written what, const Turn& turn) const {
    const std::uint64_t column = static_cast<std::uint64_t>(what) * senders_ + turn.number;
    return {memory_[rank.value].table,
            of.value * row_bytes_ + (column * batches_ + turn.batch) * kWordBytes, kWordBytes};
  }

  void add_memory(RankId rank) {
    Memory memory;
    memory.table = out_.add_buffer(rank, ranks_ * row_bytes_);
    out_.add_pre({{memory.table, rank.value * row_bytes_, row_bytes_},
                  value(messages_ + senders_ + rank.value),
                  0});
    for (std::uint32_t s = 0; s < senders_; ++s) {
      const bool own = sender(s) == rank;
      memory.slots.push_back(own ? BufferId() : out_.add_buffer(rank, rooms_ * stride_));
      memory.place.push_back(
          out_.add_buffer(rank, own ? batches_ * stride_ : spec_.messages * bytes_));
      for (std::uint32_t m = 0; m < spec_.messages; ++m) {
        const std::uint64_t words = own ? m / batch_ * kWordBytes : 0;
        const Fact message{{memory.place[s], m * bytes_ + words, bytes_},
                           value(std::uint64_t{s} * spec_.messages + m),
                           0};
        if (own) out_.add_pre(message);
        out_.add_post(message);
      }
    }
    memory_.push_back(memory);
    for (std::uint32_t s = 0; s < senders_; ++s) {
      for (std::uint32_t b = 0; b < batches_ && sender(s) == rank; ++b) {
        out_.add_pre(
            {end_of(source({rank, s, b}), kWordBytes), value(messages_ + s), b * kWordBytes});
      }
    }
  }
  static ValueId value(std::uint64_t number) { return ValueId(static_cast<std::uint32_t>(number)); }

  // The count that says that slots are free.
  Written freeing() const { return stable_ ? Written::kDelivered : Written::kReceived; }

  bool is_awaited(RankId by, Written what, const Turn& turn) const {
    if (what == Written::kReceived) return stable_ || by == turn.from;
    return what != Written::kDelivered || by == turn.from;
  }

  // Each kind of count has a channel of its own, for each sender: operations of one channel have a
  // fixed order, and a count would wait for all that comes before. The counter stands behind its
  // data.
  ChannelId channel(RankId from, RankId to, Written what, std::uint32_t number) {
    if (what == Written::kData || what == Written::kCounter) {
      const ChannelId data = out_.channel(from, to);
      if (batches_ > rooms_ && !out_.channel(data).credit_on.valid()) {
        const ChannelId credits = channel(to, from, freeing(), number);
        out_.channel(data).credit_on = credits;
        out_.channel(data).credit_batch = batch_;
      }
      return data;
    }
    const ChannelId counts = out_.channel(from, to,
                                          number * static_cast<std::uint32_t>(Written::kDelivered) +
                                              static_cast<std::uint32_t>(what));
    out_.channel(counts).credit_on = counts;
    return counts;
  }

  template <class Slices>
  OpId put(RankId from, RankId to, Written what, const Turn& turn, const Slices& slices) {
    const bool awaited = is_awaited(to, what, turn);
    const OpId put = out_.put(at(from, turn), channel(from, to, what, turn.number), slices(from),
                              slices(to), awaited ? Notify::kFlag : Notify::kNone);
    if (awaited) ways_[{from, to, what, turn.number}].puts.push_back(put);
    return put;
  }

  // To all others, once all of `after` are there. Answers the last write.
  OpId write_count(RankId from, Written what, const Turn& turn, std::span<const OpId> after,
                   On on = On::kDone) {
    OpId last;
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      if (RankId(r) == from) continue;
      last = put(from, RankId(r), what, turn,
                 [&](RankId rank) { return word(rank, from, what, turn); });
      for (const OpId pred : after) out_.after(pred, last, on);
    }
    return last;
  }

  OpId poll(RankId by, RankId from, Written what, const Turn& turn, const Slice& flag) {
    std::vector<OpId>& polls = ways_[{from, by, what, turn.number}].polls;
    polls.push_back(out_.poll(at(by, turn), flag, {polls.empty() ? OpId::none() : polls.back()}));
    return polls.back();
  }

  // Of all others; nothing of those that nobody waits for.
  std::vector<OpId> poll_counts(RankId by, Written what, const Turn& turn) {
    std::vector<OpId> polls;
    for (std::uint32_t r = 0; r < ranks_ && is_awaited(by, what, turn); ++r) {
      if (RankId(r) == by) continue;
      polls.push_back(poll(by, RankId(r), what, turn, word(by, RankId(r), what, turn)));
    }
    return polls;
  }

  // Of several senders all members deliver what is stable in one order.
  void deliver_in_order(RankId rank, OpId delivery) {
    if (!stable_ || senders_ == 1) return;
    OpId& before = delivered_[rank.value];
    out_.after(before, delivery);
    before = delivery;
  }

  void add_own_batch(const Turn& turn) {
    std::vector<std::vector<OpId>>& freed = freed_[turn.number];
    OpId room;
    if (turn.batch >= rooms_ && ranks_ > 1) {
      room = out_.join(at(turn.from, turn));
      out_.after(freed[turn.batch - rooms_], room);
    }
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      if (RankId(r) == turn.from) continue;
      const OpId data = put(turn.from, RankId(r), Written::kData, turn, [&](RankId rank) {
        return rank == turn.from ? source(turn) : slots(rank, turn);
      });
      out_.after(room, data);
    }
    const OpId counter = write_count(turn.from, Written::kCounter, turn, {});
    write_count(turn.from, Written::kReceived, turn, {&counter, 1}, On::kIssued);
    freed.push_back(poll_counts(turn.from, Written::kReceived, turn));
    if (!stable_) return;
    const OpId delivery = out_.join(at(turn.from, turn));
    out_.after(freed.back(), delivery);
    deliver_in_order(turn.from, delivery);
    write_count(turn.from, Written::kDelivered, turn, {&delivery, 1});
    freed.back() = poll_counts(turn.from, Written::kDelivered, turn);
  }

  void add_batch(RankId rank, const Turn& turn) {
    const std::vector<OpId> arrived = {
        poll(rank, turn.from, Written::kData, turn, end_of(slots(rank, turn), kWordBytes)),
        poll(rank, turn.from, Written::kCounter, turn,
             word(rank, turn.from, Written::kCounter, turn))};
    if (stable_) write_count(rank, Written::kReceived, turn, arrived);
    const std::vector<OpId> received = poll_counts(rank, Written::kReceived, turn);
    const std::uint64_t bytes = data_bytes(turn);
    const Slice from{slots(rank, turn).buffer, slots(rank, turn).offset, bytes};
    const Slice to{memory_[rank.value].place[turn.number],
                   std::uint64_t{turn.batch} * batch_ * bytes_, bytes};
    const OpId delivery = out_.copy(at(rank, turn), from, to);
    out_.after(arrived, delivery);
    out_.after(received, delivery);
    deliver_in_order(rank, delivery);
    write_count(rank, stable_ ? Written::kDelivered : Written::kReceived, turn, {&delivery, 1});
  }

  const Spec& spec_;
  const std::uint32_t ranks_;
  const std::uint64_t bytes_;  // of a message
  const RankId root_;
  const bool stable_;
  const std::uint32_t senders_;
  const std::uint64_t messages_;  // of all of them
  const std::uint32_t batch_;
  const std::uint32_t batches_;
  const std::uint32_t rooms_;   // batches that there are slots for
  const std::uint64_t stride_;  // of batches with their words
  const std::uint64_t row_bytes_;
  ProgramWriter out_;
  std::vector<Memory> memory_;  // by rank
  // By sender and batch: it has seen that its slots are free.
  std::vector<std::vector<std::vector<OpId>>> freed_;
  std::vector<OpId> delivered_;  // by rank: what it delivers last, so far
  std::map<std::tuple<RankId, RankId, Written, std::uint32_t>, Way> ways_;
};

}  // namespace

Schedule table_multicast(const Spec& spec) {
  check(spec);
  return TableMulticast(spec).run();
}

std::uint64_t table_multicast_ops(const Spec& spec) {
  const bool stable = spec.own<TableOptions>().stable;
  const std::uint64_t batches = batch_count(spec);
  const std::uint64_t senders = sender_count(spec);
  const std::uint64_t others = spec.multicast.ranks - 1;
  if (others == 0) return stable ? batches : 0;  // of its one sender
  const std::uint64_t pairs = others * (others + 1);
  // Data and counter, and their polls; counts; deliveries; and the polls of counts.
  const std::uint64_t each = stable ? 4 * others + 2 * pairs + others + 1 + pairs + others
                                    : 4 * others + pairs + others + others;
  const std::uint64_t joins = batches - room_count(spec);
  return each > kAnyNumber / (2 * batches * senders) ? kAnyNumber
                                                     : (each * batches + joins) * senders;
}

namespace {

constexpr auto kTableOptions = option_list(
    kRanksOption, kBytesOption, kRootOption, kMessagesOption, kSlotsOption,
    count_option<&TableOptions::batch>("batch", "1 to slots",
                                       "table-multicast: messages that one write carries"),
    count_option<&TableOptions::senders>("senders", "1 to ranks",
                                         "table-multicast: the root and those behind it, each with "
                                         "messages of its own"),
    choice_option<&TableOptions::stable>("delivery", "received|stable",
                                         "table-multicast: on receipt, or once all have it"));

}  // namespace

constinit const PatternEntry kTableMulticastPattern = {
    .name = "table-multicast",
    .summary = "small messages as Derecho's, counted in everyone's status table",
    .options = kTableOptions,
    .schedule = table_multicast,
    .op_count = table_multicast_ops,
    .op_memory = 540,
    // Not for advice: it does all that ring-buffer does, and more.
    .bus = BusUse::kOnce};

}  // namespace slackline::sched
