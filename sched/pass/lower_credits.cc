#include "sched/pass/lower_credits.h"

#include <malloc.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "base/forget.h"
#include "sched/pass/lower_draft.h"
#include "sched/pass/require_no_results.h"
#include "sched/prefetch.h"
#include "sched/program_writer.h"
#include "sched/schedule_rewriter.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kNoMessage = 0xffffffffu;

// The messages of all channels in one table: message k of channel c stands at begin[c] + k.
struct Messages {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> of_op;  // kNoMessage if the operation is none's end
  std::vector<OpId> source;
  std::vector<OpId> receive;

  explicit Messages(const Schedule& schedule)
      : begin(schedule.channels().size() + 1, 0), of_op(schedule.op_count(), kNoMessage) {
    for (const Op& op : schedule.ops()) {
      prefetch_ahead(&op);
      if (is_fifo_source(op) && op.match.valid()) ++begin[op.channel.value + 1];
    }
    for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
    source.resize(begin.back());
    receive.resize(begin.back());
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
      const Op& op = schedule.ops()[i];
      prefetch_ahead(&op);
      if (!is_fifo_source(op) || !op.match.valid()) continue;
      const std::uint32_t message = next[op.channel.value]++;
      source[message] = OpId(i);
      receive[message] = op.match;
      of_op[i] = message;
      of_op[op.match.value] = message;
    }
  }
};

class CreditLowering {
 public:
  // The draft is the schedule, if nobody needs it any more; else null.
  CreditLowering(const Schedule& schedule, Schedule* draft, const CreditOptions& options)
      : in_(schedule),
        draft_(draft),
        options_(options),
        notices_ahead_(options.window + (options.ready == Ready::kSend ? 1 : 0)),
        messages_(schedule),
        out_(schedule.rank_count()),
        copy_(schedule, out_),
        grant_(messages_.source.size()),
        notice_(messages_.source.size()),
        next_receive_(messages_.source.size(), kNoMessage),
        posted_after_(options.window > 1 ? messages_.source.size() : 0, kNoMessage),
        posted_first_(messages_.source.size(), 0) {}

  ProgramWriter run() {
    out_.reserve(in_.op_count() + 2 * grant_.size(), in_.edges().size() + 5 * grant_.size(),
                 in_.slices().size() + 2 * in_.channels().size() + in_.rank_count());
    add_credit_channels();
    for (std::uint32_t r = 0; r < in_.rank_count(); ++r) {
      order_receives(RankId(r));
      add_program(RankId(r));
      add_edges(RankId(r));
      copy_.keep_edges(RankId(r));
      forget_before(in_.end_op(RankId(r)));
    }
    if (options_.start == Start::kAll) add_common_start();
    copy_.finish();
    add_matches();
    return std::move(out_);
  }

 private:
  void forget_before(OpId op) {
    constexpr std::uint32_t kStep = 1u << 13;  // operations: 320 KiB
    if (draft_ == nullptr || op.value - forgotten_.value < kStep) return;
    forgotten_ = op;
    ScheduleBuilder::forget_before(*draft_, op);
    base::forget_front(messages_.of_op, op.value);
  }

  bool credited(ChannelId channel) const {
    return messages_.begin[channel.value + 1] != messages_.begin[channel.value] &&
           in_.channel(channel).window == 0;
  }
  std::uint32_t index_in_channel(std::uint32_t message, ChannelId channel) const {
    return message - messages_.begin[channel.value];
  }

  void add_credit_channels() {
    std::vector<SliceRange> source_of_rank(in_.rank_count());
    for (std::uint32_t c = 0; c < in_.channels().size(); ++c) {
      if (!credited(ChannelId(c))) continue;
      const RankId receiver = in_.channels()[c].dst;
      const ChannelId credits = out_.connect(receiver, in_.channels()[c].src);
      out_.channel(ChannelId(c)).window = options_.window;
      out_.channel(ChannelId(c)).credit_on = credits;
      if (options_.ready == Ready::kWrite) {
        add_flags(ChannelId(c), source_of_rank[receiver.value]);
      }
    }
  }

  // Every message of the channel has a flag of its own at its sender, so that no flag is reused.
  void add_flags(ChannelId channel, SliceRange& source) {
    const Channel& data = in_.channel(channel);
    if (source.count == 0) {
      const Slice word{out_.add_buffer(data.dst, 8), 0, 8};
      source = out_.add_slice(word);
      // A value that no fact of the contract speaks of.
      const auto value = static_cast<std::uint32_t>(value_count(in_.contract()));
      out_.add_pre({word, ValueId(value), 0});
    }
    flag_source_.resize(in_.channels().size());
    flag_slots_.resize(in_.channels().size());
    flag_source_[channel.value] = source;
    const std::uint32_t count = messages_.begin[channel.value + 1] - messages_.begin[channel.value];
    const BufferId buffer = out_.add_buffer(data.src, 8ull * count);
    for (std::uint32_t k = 0; k < count; ++k) {
      const SliceRange slot = out_.add_slice({buffer, 8ull * k, 8});
      if (k == 0) flag_slots_[channel.value] = slot.first;
    }
  }

  // Where the flag of a message lands.
  SliceRange flag_slot(std::uint32_t message, ChannelId channel) const {
    return {flag_slots_[channel.value] + index_in_channel(message, channel), 1};
  }

  // The receiver's "ready": after the receive of the message is posted.
  void add_grant(std::uint32_t message) {
    const Op& receive = in_.op(messages_.receive[message]);
    const ChannelId data = receive.channel;
    const ChannelId credits = out_.channel(data).credit_on;
    grant_[message] = options_.ready == Ready::kWrite
                          ? out_.put(place_of(receive), credits, flag_source_[data.value],
                                     flag_slot(message, data), Notify::kFlag)
                          : out_.send(place_of(receive), credits, {});
  }

  // The sender's side of it.
  void add_notice(std::uint32_t message) {
    const Op& source = in_.op(messages_.source[message]);
    const ChannelId data = source.channel;
    notice_[message] = options_.ready == Ready::kWrite
                           ? out_.poll(place_of(source), flag_slot(message, data))
                           : out_.receive(place_of(source), out_.channel(data).credit_on, {});
  }

  // The receives of a rank in program order; with a common start, those of each of its channels.
  void order_receives(RankId rank) {
    std::vector<std::uint32_t> queue;
    const std::uint32_t end = in_.end_op(rank).value;
    for (std::uint32_t i = in_.first_op(rank).value; i < end; ++i) {
      prefetch_ahead(&in_.op(OpId(i)));
      if (is_credited_end(OpId(i)) && is_receive(OpId(i))) queue.push_back(messages_.of_op[i]);
    }
    if (options_.start == Start::kAll || rank.value >= options_.own_windows_from) {
      for (const std::uint32_t message : queue) {
        const ChannelId channel = in_.op(messages_.receive[message]).channel;
        next_receive_[message] = follower(message, channel, options_.window);
        posted_first_[message] = index_in_channel(message, channel) < options_.window;
      }
      return;
    }
    for (std::size_t i = 0; i < queue.size(); ++i) {
      posted_first_[queue[i]] = i < options_.window;
      if (i + options_.window < queue.size()) {
        next_receive_[queue[i]] = queue[i + options_.window];
      }
      // So that what comes `window` places later on one channel comes later for certain.
      if (options_.window > 1 && i + 1 < queue.size()) posted_after_[queue[i + 1]] = queue[i];
    }
  }

  // The message so many places after this one on its channel; kNoMessage at the end.
  std::uint32_t follower(std::uint32_t message, ChannelId channel, std::uint64_t places) const {
    const std::uint64_t next = message + places;
    return next < messages_.begin[channel.value + 1] ? static_cast<std::uint32_t>(next)
                                                     : kNoMessage;
  }

  bool is_credited_end(OpId id) const {
    return messages_.of_op[id.value] != kNoMessage && credited(in_.op(id).channel);
  }
  bool is_receive(OpId id) const { return in_.op(id).kind == OpKind::kRecv; }

  // Each operation stands where it becomes ready: the first receives and their credits, the first
  // notices, then step by step what is sent and the next notice of that channel, then the receives
  // that the step's arrivals make room for, then the rest.
  void add_program(RankId rank) {
    const std::uint32_t first = in_.first_op(rank).value;
    const std::uint32_t end = in_.end_op(rank).value;
    for (const bool receives : {true, false}) {
      for (std::uint32_t i = first; i < end; ++i) {
        const OpId id(i);
        if (!is_credited_end(id) || is_receive(id) != receives) continue;
        const std::uint32_t message = messages_.of_op[i];
        if (!receives) {
          add_first_notices(message, in_.op(id).channel);
        } else if (posted_first_[message]) {
          copy_.keep(id);
          add_grant(message);
        }
      }
    }
    for (std::uint32_t begin = first; begin < end;) {
      std::uint32_t stop = begin;
      while (stop < end && in_.op(OpId(stop)).step == in_.op(OpId(begin)).step) ++stop;
      add_step(begin, stop);
      begin = stop;
    }
  }

  // What of the first notices of its channel stands where this message is met: its own, and with
  // the last of the first window what is ahead of the window.
  void add_first_notices(std::uint32_t message, ChannelId channel) {
    const std::uint64_t index = index_in_channel(message, channel);
    if (index >= options_.window) return;
    add_notice(message);
    if (index + 1 != options_.window || notices_ahead_ == options_.window) return;
    const std::uint32_t next = follower(message, channel, 1);
    if (next != kNoMessage) add_notice(next);
  }

  void add_step(std::uint32_t begin, std::uint32_t stop) {
    for (std::uint32_t i = begin; i < stop; ++i) {
      if (!is_credited_end(OpId(i)) || is_receive(OpId(i))) continue;
      copy_.keep(OpId(i));
      const std::uint32_t next =
          follower(messages_.of_op[i], in_.op(OpId(i)).channel, notices_ahead_);
      if (next != kNoMessage) add_notice(next);
    }
    for (std::uint32_t i = begin; i < stop; ++i) {
      if (!is_credited_end(OpId(i)) || !is_receive(OpId(i))) continue;
      const std::uint32_t next = next_receive_[messages_.of_op[i]];
      if (next == kNoMessage) continue;
      copy_.keep(messages_.receive[next]);
      add_grant(next);
    }
    for (std::uint32_t i = begin; i < stop; ++i) {
      if (!is_credited_end(OpId(i))) copy_.keep(OpId(i));
    }
  }

  // Rank by rank, so that what is touched together lies together.
  void add_edges(RankId rank) {
    const std::uint32_t end = in_.end_op(rank).value;
    for (std::uint32_t i = in_.first_op(rank).value; i < end; ++i) {
      const OpId id(i);
      const OpId kept = copy_[id];
      if (!is_credited_end(id)) continue;
      const std::uint32_t message = messages_.of_op[i];
      if (is_receive(id)) {
        const std::uint32_t next = next_receive_[message];
        const std::uint32_t before = posted_after_.empty() ? kNoMessage : posted_after_[message];
        out_.add_edge(kept, grant_[message], On::kIssued);
        if (next != kNoMessage) out_.add_edge(kept, copy_[messages_.receive[next]]);
        if (before != kNoMessage) {
          out_.add_edge(copy_[messages_.receive[before]], kept, On::kIssued);
        }
      } else {
        out_.add_edge(notice_[message], kept);
        add_notice_edges(message, kept, in_.op(id).channel);
      }
    }
  }

  // The credit of the message `window` places later can come as soon as this one has arrived. If it
  // is a message, its receive is posted before: not by this send, whose bytes may be there first.
  void add_notice_edges(std::uint32_t message, OpId source, ChannelId channel) {
    const std::uint32_t credited = follower(message, channel, options_.window);
    const std::uint32_t next = follower(message, channel, notices_ahead_);
    if (credited != next) out_.add_edge(notice_[credited], source, On::kIssued);
    if (next != kNoMessage) out_.add_edge(source, notice_[next], On::kIssued);
  }

  // The first message of each channel waits for the first notice of every channel of its rank; the
  // later ones follow the first by the order of their channel.
  void add_common_start() {
    std::vector<std::vector<std::uint32_t>> firsts(in_.rank_count());
    for (std::uint32_t c = 0; c < in_.channels().size(); ++c) {
      if (credited(ChannelId(c))) {
        firsts[in_.channels()[c].src.value].push_back(messages_.begin[c]);
      }
    }
    for (std::uint32_t r = 0; r < firsts.size(); ++r) {
      if (firsts[r].size() < 2) continue;
      const OpId all = out_.join({RankId(r)});
      for (std::uint32_t message : firsts[r]) {
        out_.add_edge(notice_[message], all);
        out_.add_edge(all, copy_[messages_.source[message]]);
      }
    }
  }

  void add_matches() {
    if (options_.ready != Ready::kWrite) return;
    for (std::uint32_t m = 0; m < grant_.size(); ++m) {
      if (grant_[m].valid()) out_.add_flag_match(grant_[m], notice_[m]);
    }
  }

  const Schedule& in_;
  Schedule* const draft_;
  OpId forgotten_{0};
  const CreditOptions& options_;
  const std::uint64_t notices_ahead_;  // of a channel, before its first message
  Messages messages_;
  ProgramWriter out_;
  ScheduleRewriter copy_;
  std::vector<OpId> grant_;   // by message: the credit's send or put
  std::vector<OpId> notice_;  // by message: the credit's recv or poll
  // By message, of its receive: the one that its end makes room for, the one posted just before it,
  // and whether it is posted at the start.
  std::vector<std::uint32_t> next_receive_;
  std::vector<std::uint32_t> posted_after_;
  std::vector<char> posted_first_;
  std::vector<SliceRange> flag_source_;
  std::vector<std::uint32_t> flag_slots_;
};

// Whether there is anything to be done. Throws what lower_credits() does.
bool wanted(const Schedule& schedule, const CreditOptions& options) {
  require_static(schedule, "lower_credits");
  require_no_results(schedule, "lower_credits");
  if (options.window == 0) throw InputError("window: 0 is out of range; expected at least 1");
  return options.ready != Ready::kNone;
}

}  // namespace

Schedule lower_credits(const Schedule& schedule, const CreditOptions& options) {
  if (!wanted(schedule, options)) return schedule;
  return CreditLowering(schedule, nullptr, options).run().build();
}

Schedule lower_credits_of_draft(Schedule&& draft, const CreditOptions& options) {
  if (!wanted(draft, options)) return std::move(draft);
  constexpr std::uint32_t kLarge = 1u << 16;  // below it is not worth a look at all free memory
  const bool large = draft.op_count() >= kLarge;
  if (large) malloc_trim(0);
  ProgramWriter out = CreditLowering(draft, &draft, options).run();
  // Neither the draft nor the pass's tables are there beside the finished schedule.
  { const Schedule gone = std::move(draft); }
  if (large) malloc_trim(0);
  return out.build();
}

}  // namespace slackline::sched
