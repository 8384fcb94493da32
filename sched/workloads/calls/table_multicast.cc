#include "sched/workloads/calls/table_multicast.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "sched/pattern/shared_options.h"
#include "sched/program_writer.h"

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

void check(const Spec& spec) {
  check(spec.multicast);
  const std::uint32_t batch = spec.own<TableOptions>().batch;
  if (spec.messages == 0) throw InputError("messages: 0; expected at least 1");
  if (batch == 0) throw InputError("batch: 0; expected at least 1");
  if (spec.slots == 0 || spec.slots % batch != 0) {
    throw InputError(fmt::format("slots: {}; expected a multiple of the batch, as {}", spec.slots,
                                 (spec.slots / batch + std::uint64_t{1}) * batch));
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (spec.multicast.bytes > kMost / spec.messages - kWordBytes) {
    throw InputError(fmt::format("messages: {} of {} bytes; expected less than {} bytes together",
                                 spec.messages, spec.multicast.bytes, kMost));
  }
  if (table_multicast_ops(spec) >= kMaxOps) {
    throw InputError(fmt::format("messages: {} to {} ranks make {} operations; expected less",
                                 spec.messages, spec.multicast.ranks - 1,
                                 table_multicast_ops(spec)));
  }
}

class TableMulticast {
 public:
  explicit TableMulticast(const Spec& spec)
      : spec_(spec),
        ranks_(spec.multicast.ranks),
        bytes_(spec.multicast.bytes),
        root_(spec.multicast.root),
        stable_(spec.own<TableOptions>().stable),
        batch_(spec.own<TableOptions>().batch),
        batches_(batch_count(spec)),
        rooms_(room_count(spec)),
        stride_(std::uint64_t{batch_} * bytes_ + kWordBytes),
        row_bytes_((stable_ ? 3 : 2) * batches_ * kWordBytes),
        out_(ranks_) {}

  Schedule run() {
    out_.reserve(table_multicast_ops(spec_), 2 * table_multicast_ops(spec_), 0);
    out_.set_title(format_spec(spec_));
    out_.set_message_bytes(spec_.messages * bytes_);
    for (std::uint32_t r = 0; r < ranks_; ++r) add_memory(RankId(r));
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (std::uint32_t b = 0; b < batches_; ++b) {
        RankId(r) == root_ ? add_root_batch(b) : add_batch(RankId(r), b);
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
  struct Memory {
    BufferId table;  // a row for each member
    BufferId slots;  // not the root's
    BufferId place;  // where messages stand in the end; the root's have a word behind each batch
  };
  // What is polled for, by batch.
  struct Way {
    std::vector<OpId> puts;
    std::vector<OpId> polls;
  };

  // Where messages of a batch, with the word behind, stand at the root.
  Slice source(std::uint32_t batch) const {
    return {memory_[root_.value].place, batch * stride_, data_bytes(batch) + kWordBytes};
  }
  // Where they land. The last batch may have fewer messages: all words have a place of their own,
  // since polls that share a flag look at the same bytes.
  Slice slots(RankId at, std::uint32_t batch) const {
    const std::uint64_t end = (batch % rooms_ + 1) * stride_;
    const std::uint64_t bytes = data_bytes(batch) + kWordBytes;
    return {memory_[at.value].slots, end - bytes, bytes};
  }
  std::uint64_t data_bytes(std::uint32_t batch) const {
    return std::min(batch_, spec_.messages - batch * batch_) * bytes_;
  }
  // A count in the row of `of` at `at`.
  Slice word(RankId at, RankId of, Written what, std::uint32_t batch) const {
    const std::uint64_t column = static_cast<std::uint64_t>(what) * batches_;
    return {memory_[at.value].table, of.value * row_bytes_ + (column + batch) * kWordBytes,
            kWordBytes};
  }

  void add_memory(RankId rank) {
    Memory memory;
    memory.table = out_.add_buffer(rank, ranks_ * row_bytes_);
    out_.add_pre({{memory.table, rank.value * row_bytes_, row_bytes_},
                  ValueId(spec_.messages + 1 + rank.value),
                  0});
    if (rank == root_) {
      memory.place = out_.add_buffer(rank, batches_ * stride_);
    } else {
      memory.slots = out_.add_buffer(rank, rooms_ * stride_);
      memory.place = out_.add_buffer(rank, spec_.messages * bytes_);
    }
    for (std::uint32_t m = 0; m < spec_.messages; ++m) {
      const std::uint64_t words = rank == root_ ? m / batch_ * kWordBytes : 0;
      const Fact message{{memory.place, m * bytes_ + words, bytes_}, ValueId(m), 0};
      if (rank == root_) out_.add_pre(message);
      out_.add_post(message);
    }
    memory_.push_back(memory);
    if (rank != root_) return;
    for (std::uint32_t b = 0; b < batches_; ++b) {
      out_.add_pre({end_of(source(b), kWordBytes), ValueId(spec_.messages), b * kWordBytes});
    }
  }

  // The count that says that slots are free.
  Written freeing() const { return stable_ ? Written::kDelivered : Written::kReceived; }

  bool is_awaited(RankId by, Written what) const {
    if (what == Written::kReceived) return stable_ || by == root_;
    return what != Written::kDelivered || by == root_;
  }

  // Each kind of count has a channel of its own: operations of one channel have a fixed order, and
  // a count would wait for all that comes before. The counter stands behind its data.
  ChannelId channel(RankId from, RankId to, Written what) {
    if (what == Written::kData || what == Written::kCounter) {
      const ChannelId data = out_.channel(from, to);
      if (batches_ > rooms_ && !out_.channel(data).credit_on.valid()) {
        const ChannelId credits = channel(to, from, freeing());
        out_.channel(data).credit_on = credits;
        out_.channel(data).credit_batch = batch_;
      }
      return data;
    }
    const ChannelId counts = out_.channel(from, to, static_cast<std::uint32_t>(what));
    out_.channel(counts).credit_on = counts;
    return counts;
  }

  template <class Slices>
  OpId put(RankId from, RankId to, Written what, std::uint32_t batch, const Slices& slices) {
    const bool awaited = is_awaited(to, what);
    const OpId put = out_.put({from, batch}, channel(from, to, what), slices(from), slices(to),
                              awaited ? Notify::kFlag : Notify::kNone);
    if (awaited) ways_[{from, to, what}].puts.push_back(put);
    return put;
  }

  // To all others, once all of `after` are there. Answers the last write.
  OpId write_count(RankId from, Written what, std::uint32_t batch, std::span<const OpId> after,
                   On on = On::kDone) {
    OpId last;
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      if (RankId(r) == from) continue;
      last =
          put(from, RankId(r), what, batch, [&](RankId at) { return word(at, from, what, batch); });
      for (const OpId pred : after) out_.after(pred, last, on);
    }
    return last;
  }

  OpId poll(RankId at, RankId from, Written what, std::uint32_t batch, const Slice& flag) {
    std::vector<OpId>& polls = ways_[{from, at, what}].polls;
    polls.push_back(out_.poll({at, batch}, flag, {polls.empty() ? OpId::none() : polls.back()}));
    return polls.back();
  }

  // Of all others; nothing of those that nobody waits for.
  std::vector<OpId> poll_counts(RankId at, Written what, std::uint32_t batch) {
    std::vector<OpId> polls;
    for (std::uint32_t r = 0; r < ranks_ && is_awaited(at, what); ++r) {
      if (RankId(r) == at) continue;
      polls.push_back(poll(at, RankId(r), what, batch, word(at, RankId(r), what, batch)));
    }
    return polls;
  }

  void add_root_batch(std::uint32_t b) {
    OpId room;
    if (b >= rooms_ && ranks_ > 1) {
      room = out_.join({root_, b});
      out_.after(freed_[b - rooms_], room);
    }
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      if (RankId(r) == root_) continue;
      const OpId data = put(root_, RankId(r), Written::kData, b,
                            [&](RankId at) { return at == root_ ? source(b) : slots(at, b); });
      out_.after(room, data);
    }
    const OpId counter = write_count(root_, Written::kCounter, b, {});
    write_count(root_, Written::kReceived, b, {&counter, 1}, On::kIssued);
    freed_.push_back(poll_counts(root_, Written::kReceived, b));
    if (!stable_) return;
    const OpId delivery = out_.join({root_, b});
    out_.after(freed_.back(), delivery);
    write_count(root_, Written::kDelivered, b, {&delivery, 1});
    freed_.back() = poll_counts(root_, Written::kDelivered, b);
  }

  void add_batch(RankId rank, std::uint32_t b) {
    const std::vector<OpId> arrived = {
        poll(rank, root_, Written::kData, b, end_of(slots(rank, b), kWordBytes)),
        poll(rank, root_, Written::kCounter, b, word(rank, root_, Written::kCounter, b))};
    if (stable_) write_count(rank, Written::kReceived, b, arrived);
    const std::vector<OpId> received = poll_counts(rank, Written::kReceived, b);
    const Slice from{slots(rank, b).buffer, slots(rank, b).offset, data_bytes(b)};
    const Slice to{memory_[rank.value].place, std::uint64_t{b} * batch_ * bytes_, data_bytes(b)};
    const OpId delivery = out_.copy({rank, b}, from, to);
    out_.after(arrived, delivery);
    out_.after(received, delivery);
    write_count(rank, stable_ ? Written::kDelivered : Written::kReceived, b, {&delivery, 1});
  }

  const Spec& spec_;
  const std::uint32_t ranks_;
  const std::uint64_t bytes_;  // of a message
  const RankId root_;
  const bool stable_;
  const std::uint32_t batch_;
  const std::uint32_t batches_;
  const std::uint32_t rooms_;   // batches that there are slots for
  const std::uint64_t stride_;  // of batches with their words
  const std::uint64_t row_bytes_;
  ProgramWriter out_;
  std::vector<Memory> memory_;            // by rank
  std::vector<std::vector<OpId>> freed_;  // by batch: the root has seen that its slots are free
  std::map<std::tuple<RankId, RankId, Written>, Way> ways_;
};

}  // namespace

Schedule table_multicast(const Spec& spec) {
  check(spec);
  return TableMulticast(spec).run();
}

std::uint64_t table_multicast_ops(const Spec& spec) {
  const bool stable = spec.own<TableOptions>().stable;
  const std::uint64_t batches = batch_count(spec);
  const std::uint64_t others = spec.multicast.ranks - 1;
  if (others == 0) return stable ? batches : 0;
  const std::uint64_t pairs = others * (others + 1);
  // Data and counter, and their polls; counts; deliveries; and the polls of counts.
  const std::uint64_t each = stable ? 4 * others + 2 * pairs + others + 1 + pairs + others
                                    : 4 * others + pairs + others + others;
  const std::uint64_t joins = batches - room_count(spec);
  return each > kAnyNumber / (2 * batches) ? kAnyNumber : each * batches + joins;
}

namespace {

constexpr auto kTableOptions = option_list(
    kRanksOption, kBytesOption, kRootOption, kMessagesOption, kSlotsOption,
    count_option<&TableOptions::batch>("batch", "1 to slots",
                                       "table-multicast: messages that one write carries"),
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
