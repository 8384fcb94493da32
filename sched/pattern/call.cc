#include "sched/pattern/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "sched/builder.h"
#include "sched/error.h"
#include "sched/pattern/call_chunks.h"

namespace slackline::sched {
namespace {

constexpr std::uint64_t kWord = 8;    // a function's identifier, a mark, an offset, a handle
constexpr std::uint16_t kWorker = 0;  // lanes
constexpr std::uint16_t kService = 1;

enum class Carries { kInRecord, kWritten, kRead, kReturned };

struct Shape {
  Carries carries = Carries::kInRecord;
  bool tree = false;
};

void check(const SeriesOptions& options) {
  const CallOptions& call = options.call;
  if (options.ranks == 0) throw InputError("ranks: 0; expected at least 1");
  if (options.messages == 0) throw InputError("messages: 0; expected at least 1");
  if (options.slots == 0) throw InputError("slots: 0; expected at least 1");
  if (call.chunks == 0) throw InputError("chunks: 0; expected at least 1");
  if (call.chunk_limit == 0) throw InputError("chunk-limit: 0; expected at least 1");
  if (options.root.value >= options.ranks) {
    throw InputError(fmt::format("root: {} is no rank; expected 0 to {}", options.root.value,
                                 options.ranks - 1));
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (options.bytes > kMost / options.messages - 2 * kWord) {
    throw InputError(fmt::format("messages: {} of {} bytes; expected less than {} bytes together",
                                 options.messages, options.bytes, kMost));
  }
  if (options.messages > (1u << 30)) {
    throw InputError(fmt::format("messages: {}; expected at most {}", options.messages, 1u << 30));
  }
  if (call_ops(options) >= 1ull << 31) {
    throw InputError(fmt::format("messages: {} to {} ranks make {} operations; expected less",
                                 options.messages, options.ranks - 1, call_ops(options)));
  }
}

class CallSeries {
 public:
  CallSeries(const SeriesOptions& options, Shape shape)
      : options_(options),
        shape_(shape),
        one_sided_(options.call.via == CallVia::kWrite),
        in_record_(shape.carries == Carries::kInRecord || shape.carries == Carries::kReturned),
        record_(kWord + (in_record_ ? options.bytes : 0)),
        stride_(record_ + (one_sided_ ? kWord : 0)),
        chunks_(options, stride_),
        notifies_(options.call.notify == CallNotify::kConsume &&
                  shape.carries != Carries::kReturned),
        out_(options.ranks),
        nodes_(options.ranks) {}

  Schedule run() {
    out_.set_title(options_.title);
    out_.set_message_bytes(options_.messages * options_.bytes);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) add_node(i);
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) add_channels(nodes_[i]);
    add_facts();
    for (Node& node : nodes_) add_program(node);
    for (const Node& node : nodes_) add_matches(node);
    return out_.build();
  }

 private:
  // A rank: its memory, its channels from and to its parent, and its operations by call.
  struct Node {
    RankId rank;
    std::uint32_t parent = 0;
    std::vector<std::uint32_t> children;
    BufferId records;  // at the root the calls themselves, elsewhere where they arrive
    BufferId buffers;  // what is written or read beside the records
    BufferId state;
    BufferId results;   // on their way back; at the root where they arrive, of all callees
    BufferId mark;      // a word that is never zero
    ChannelId calls;    // from the parent
    ChannelId back;     // to the parent
    ChannelId sync;     // to the root
    ChannelId answers;  // to the parent: of the service thread
    ChannelId asks;     // from the parent: to the service thread
    BufferId consumed;  // at the parent: words of consumed offsets
    BufferId handles;   // at the parent: of chunks
    BufferId asked;     // here: words of service calls
    BufferId words;     // at the root: notifications or results
    // At the parent:
    std::vector<OpId> posts;  // on `calls`
    std::vector<OpId> sent;   // the calls among them
    std::vector<OpId> offsets_seen;
    // Here:
    std::vector<OpId> arrivals;
    std::vector<OpId> offsets;                   // written back
    std::vector<std::vector<OpId>> consumed_by;  // of every call: who reads its record
    std::vector<OpId> told;                      // notifications, or results
    std::vector<OpId> seen;                      // their polls, at the root
    OpId last;                                   // of the handler before
  };

  RankId rank_of(std::uint32_t index) const {
    if (index == 0) return options_.root;
    return index == options_.root.value ? RankId(0) : RankId(index);
  }
  bool is_root(const Node& node) const { return &node == &nodes_.front(); }
  bool runs_calls(const Node& node) const { return shape_.tree || !is_root(node); }
  std::uint32_t calls() const { return options_.messages; }
  bool has_buffers() const { return !in_record_; }

  void add_node(std::uint32_t i) {
    Node& node = nodes_[i];
    node.rank = rank_of(i);
    node.mark = out_.add_buffer(node.rank, kWord);
    if (i == 0) {
      node.records = out_.add_buffer(node.rank, calls() * record_);
    } else {
      node.parent = shape_.tree ? i - (1u << floor_log2(i)) : 0;
      nodes_[node.parent].children.push_back(i);
      const std::uint64_t slots = std::min(options_.slots, calls());
      node.records = out_.add_buffer(node.rank, one_sided_ ? chunks_.bytes() : slots * stride_);
    }
    if (has_buffers()) node.buffers = out_.add_buffer(node.rank, calls() * options_.bytes);
    if (runs_calls(node)) node.state = out_.add_buffer(node.rank, record_);
    if (i == 0) return;
    const RankId parent = nodes_[node.parent].rank;
    if (shape_.carries == Carries::kReturned) {
      node.results = out_.add_buffer(node.rank, calls() * options_.bytes);
      node.words = out_.add_buffer(options_.root, calls() * (options_.bytes + kWord));
    } else if (notifies_) {
      node.words = out_.add_buffer(options_.root, calls() * kWord);
    }
    if (!one_sided_) return;
    node.asked = out_.add_buffer(node.rank, chunks_.services() * kWord);
    node.handles = out_.add_buffer(parent, chunks_.services() * kWord);
    if (chunks_.pushes() != 0) {
      node.consumed = out_.add_buffer(parent, chunks_.pushes() * kWord);
    }
  }

  ChannelId channel(RankId src, RankId dst) {
    Channel made;
    made.src = src;
    made.dst = dst;
    return out_.add_channel(made);
  }

  void add_channels(Node& node) {
    const RankId parent = nodes_[node.parent].rank;
    const bool pushes = one_sided_ && chunks_.pushes() != 0;
    node.calls = channel(parent, node.rank);
    if (pushes || shape_.carries == Carries::kReturned || shape_.carries == Carries::kRead) {
      node.back = channel(node.rank, parent);
    }
    if (notifies_) node.sync = channel(node.rank, options_.root);
    if (one_sided_) {
      node.asks = channel(parent, node.rank);
      node.answers = channel(node.rank, parent);
    }
  }

  // Values: the calls' records, then their buffers, then the mark.
  ValueId record_value(std::uint32_t m) const { return ValueId(m); }
  ValueId buffer_value(std::uint32_t m) const { return ValueId(calls() + m); }
  ValueId mark_value() const { return ValueId(2 * calls()); }

  void add_facts() {
    const Node& root = nodes_.front();
    for (std::uint32_t m = 0; m < calls(); ++m) {
      out_.add_pre({{root.records, m * record_, record_}, record_value(m), 0});
      if (has_buffers()) out_.add_pre({buffer(root, m), buffer_value(m), 0});
    }
    for (const Node& node : nodes_) {
      out_.add_pre({mark_of(node), mark_value(), 0});
      if (runs_calls(node)) out_.add_post({{node.state, 0, record_}, record_value(0), 0, calls()});
      for (std::uint32_t m = 0; m < calls(); ++m) {
        if (has_buffers()) out_.add_post({buffer(node, m), buffer_value(m), 0});
        if (shape_.carries != Carries::kReturned || is_root(node)) continue;
        const Slice landed{node.words, m * (options_.bytes + kWord), options_.bytes};
        out_.add_post({landed, record_value(0), kWord, m + 1});
      }
    }
  }

  static Slice mark_of(const Node& node) { return word(node.mark, 0); }
  Slice buffer(const Node& node, std::uint32_t m) const {
    return {node.buffers, m * options_.bytes, options_.bytes};
  }
  Slice record(const Node& node, std::uint32_t m) const {
    if (is_root(node)) return {node.records, m * record_, record_};
    const std::uint64_t offset =
        one_sided_ ? chunks_.offset(m) : m % std::min(options_.slots, calls()) * stride_;
    return {node.records, offset, record_};
  }
  static Slice word(BufferId buffer, std::uint32_t i) { return {buffer, i * kWord, kWord}; }

  Op op_of(OpKind kind, const Node& node, std::uint32_t step) const {
    Op op;
    op.kind = kind;
    op.rank = node.rank;
    op.step = step;
    return op;
  }
  Op message(OpKind kind, const Node& node, ChannelId channel, std::uint32_t step) const {
    Op op = op_of(kind, node, step);
    op.channel = channel;
    return op;
  }
  // A write with a mark behind it, or of a mark alone.
  OpId put_flag(const Node& node, ChannelId channel, std::uint32_t step,
                std::span<const Slice> from, const Slice& to) {
    Op op = message(OpKind::kPut, node, channel, step);
    op.notify = Notify::kFlag;
    op.reads = out_.add_slices(from);
    op.writes = out_.add_slice(to);
    return out_.add(op);
  }
  OpId put_mark(const Node& node, ChannelId channel, std::uint32_t step, const Slice& to) {
    const Slice mark = mark_of(node);
    return put_flag(node, channel, step, {&mark, 1}, to);
  }
  OpId poll(const Node& node, std::uint32_t step, const Slice& flag) {
    Op op = op_of(OpKind::kPoll, node, step);
    op.reads = out_.add_slice(flag);
    return out_.add(op);
  }
  void after(OpId pred, OpId succ, On on = On::kDone) {
    if (pred.valid()) out_.add_edge(pred, succ, on);
  }

  void add_program(Node& node) {
    if (!is_root(node) && one_sided_) answer_services(node);
    for (std::uint32_t m = 0; m < calls(); ++m) {
      OpId ready = is_root(node) ? OpId::none() : receive(node, m);
      if (!is_root(node) && shape_.carries == Carries::kRead) ready = read_buffer(node, m, ready);
      node.consumed_by.emplace_back();
      for (const std::uint32_t child : node.children) {
        node.consumed_by[m].push_back(pass_on(node, nodes_[child], m, ready));
      }
      if (runs_calls(node)) handle(node, m, ready);
      if (!is_root(node) && one_sided_) push_offset(node, m);
    }
    if (is_root(node)) wait_for_notifications();
  }

  // The service thread answers with handles of chunks.
  void answer_services(Node& node) {
    for (std::uint32_t s = 0; s < chunks_.services(); ++s) {
      Op op = message(OpKind::kRecv, node, node.asks, 0);
      op.lane = kService;
      op.writes = out_.add_slice(word(node.asked, s));
      const OpId asked = out_.add(op);
      op = message(OpKind::kSend, node, node.answers, 0);
      op.lane = kService;
      op.reads = out_.add_slice(mark_of(node));
      after(asked, out_.add(op));
    }
  }

  OpId receive(Node& node, std::uint32_t m) {
    if (one_sided_) {
      Slice mark = record(node, m);
      mark.offset += record_;
      mark.bytes = kWord;
      const OpId seen = poll(node, m, mark);
      if (m > 0) after(node.arrivals.back(), seen);
      node.arrivals.push_back(seen);
      return seen;
    }
    Op op = message(OpKind::kRecv, node, node.calls, m);
    op.lane = kService;
    op.writes = out_.add_slice(record(node, m));
    node.arrivals.push_back(out_.add(op));
    if (m >= options_.slots) {
      for (const OpId reader : node.consumed_by[m - options_.slots]) {
        after(reader, node.arrivals.back());
      }
    }
    return node.arrivals.back();
  }

  OpId read_buffer(Node& node, std::uint32_t m, OpId arrived) {
    Op op = message(OpKind::kGet, node, node.back, m);
    op.reads = out_.add_slice(buffer(nodes_[node.parent], m));
    op.writes = out_.add_slice(buffer(node, m));
    const OpId get = out_.add(op);
    after(arrived, get);
    return get;
  }

  // `node` makes call m to its child, or passes it on. Answers who read the record.
  OpId pass_on(Node& node, Node& child, std::uint32_t m, OpId ready) {
    OpId written;
    if (shape_.carries == Carries::kWritten) {
      Op op = message(OpKind::kPut, node, child.calls, m);
      op.reads = out_.add_slice(buffer(node, m));
      op.writes = out_.add_slice(buffer(child, m));
      written = post(child, op, ready);
    }
    const OpId room = one_sided_ && chunks_.is_first(m) ? find_room(node, child, m) : OpId::none();
    Op op = message(OpKind::kSend, node, child.calls, m);
    if (one_sided_) {
      op.kind = OpKind::kPut;
      op.notify = Notify::kFlag;
      op.reads = out_.add_slices(std::vector<Slice>{record(node, m), mark_of(node)});
      Slice landing = record(child, m);
      landing.bytes += kWord;
      op.writes = out_.add_slice(landing);
    } else {
      op.reads = out_.add_slice(record(node, m));
    }
    const OpId sent = post(child, op, ready);
    after(written, sent);
    after(room, sent);  // the later ones of the chunk follow by the order of their channel
    child.sent.push_back(sent);
    return sent;
  }

  OpId post(Node& child, const Op& op, OpId ready) {
    const OpId posted = out_.add(op);
    after(ready, posted);
    const std::uint32_t every = options_.call.signal;
    if (every != 0 && !child.posts.empty() && child.posts.size() % every == 0) {
      after(child.posts.back(), posted);
    }
    child.posts.push_back(posted);
    return posted;
  }

  // What the first call into a chunk waits for, if anything.
  OpId find_room(Node& node, Node& child, std::uint32_t m) {
    const std::uint32_t use = chunks_.use(m);
    if (use >= chunks_.chunks()) {
      const std::uint32_t push = use - chunks_.chunks();
      const OpId seen = poll(node, m, word(child.consumed, push));
      if (push > 0) after(child.offsets_seen.back(), seen);
      child.offsets_seen.push_back(seen);
      return seen;
    }
    if (!chunks_.obtains(use)) return OpId::none();
    Op op = message(OpKind::kRecv, node, child.answers, m);
    op.writes = out_.add_slice(word(child.handles, chunks_.service(use)));
    const OpId answer = out_.add(op);
    op = message(OpKind::kSend, node, child.asks, m);
    op.reads = out_.add_slice(mark_of(node));
    const OpId ask = out_.add(op);
    after(answer, ask, On::kIssued);
    if (m > 0) after(child.sent.back(), ask, On::kIssued);
    return answer;
  }

  void handle(Node& node, std::uint32_t m, OpId ready) {
    Op op = op_of(OpKind::kCalc, node, m);
    OpArguments arguments;
    arguments.duration = options_.call.handler;
    const OpId run = out_.add(op, arguments);
    after(ready, run);
    after(node.last, run);
    const Slice state{node.state, 0, record_};
    op = op_of(m == 0 ? OpKind::kCopy : OpKind::kReduce, node, m);
    op.reads = m == 0 ? out_.add_slice(record(node, m))
                      : out_.add_slices(std::vector<Slice>{state, record(node, m)});
    op.writes = out_.add_slice(state);
    node.last = out_.add(op);
    after(run, node.last);
    node.consumed_by[m].push_back(node.last);
    if (is_root(node)) return;
    if (shape_.carries == Carries::kReturned) {
      give_back(node, m);
    } else if (notifies_) {
      node.told.push_back(put_mark(node, node.sync, m, word(node.words, m)));
      after(node.last, node.told.back());
    }
  }

  // The result is what the arguments add up to so far.
  void give_back(Node& node, std::uint32_t m) {
    const Slice result{node.results, m * options_.bytes, options_.bytes};
    Op op = op_of(OpKind::kCopy, node, m);
    op.reads = out_.add_slice({node.state, kWord, options_.bytes});
    op.writes = out_.add_slice(result);
    const OpId kept = out_.add(op);
    after(node.last, kept);
    node.last = kept;
    node.told.push_back(put_flag(node, node.back, m, std::vector<Slice>{result, mark_of(node)},
                                 landed_result(node, m)));
    after(kept, node.told.back());
  }
  Slice landed_result(const Node& node, std::uint32_t m) const {
    const std::uint64_t stride = options_.bytes + kWord;
    return {node.words, m * stride, stride};
  }

  // The consumed offset, once all of a chunk is consumed.
  void push_offset(Node& node, std::uint32_t m) {
    const std::uint32_t use = chunks_.use(m);
    if (!chunks_.is_last(m) || use >= chunks_.pushes()) return;
    node.offsets.push_back(put_mark(node, node.back, m, word(node.consumed, use)));
    for (std::uint32_t c = m + 1; c-- > 0 && chunks_.use(c) == use;) {
      for (const OpId reader : node.consumed_by[c]) after(reader, node.offsets.back());
    }
  }

  void wait_for_notifications() {
    Node& root = nodes_.front();
    const std::uint32_t last = calls() - 1;
    const bool results = shape_.carries == Carries::kReturned;
    for (std::uint32_t i = 1; i < nodes_.size() && (results || notifies_); ++i) {
      for (std::uint32_t m = 0; m < calls(); ++m) {
        Slice flag = word(nodes_[i].words, m);
        if (results) {
          flag = landed_result(nodes_[i], m);
          flag.offset += options_.bytes;
          flag.bytes = kWord;
        }
        nodes_[i].seen.push_back(poll(root, m, flag));
      }
    }
    const OpId all = out_.add(op_of(OpKind::kJoin, root, last));
    for (const Node& node : nodes_) {
      if (is_root(node)) continue;
      if (results || notifies_) {
        for (const OpId seen : node.seen) after(seen, all);
      } else if (node.parent == 0) {
        after(node.posts.back(), all);
      }
    }
  }

  void add_matches(const Node& node) {
    for (std::size_t m = 0; one_sided_ && m < node.sent.size(); ++m) {
      out_.add_flag_match(node.sent[m], node.arrivals[m]);
    }
    for (std::size_t i = 0; i < node.offsets.size(); ++i) {
      out_.add_flag_match(node.offsets[i], node.offsets_seen[i]);
    }
    for (std::size_t i = 0; i < node.told.size(); ++i) {
      out_.add_flag_match(node.told[i], node.seen[i]);
    }
  }

  const SeriesOptions& options_;
  const Shape shape_;
  const bool one_sided_;
  const bool in_record_;
  const std::uint64_t record_;
  const std::uint64_t stride_;
  const CallChunks chunks_;
  const bool notifies_;
  ScheduleBuilder out_;
  std::vector<Node> nodes_;
};

Schedule make(const SeriesOptions& options, Shape shape) {
  check(options);
  return CallSeries(options, shape).run();
}

}  // namespace

Schedule call(const SeriesOptions& options) { return make(options, {}); }
Schedule call_buffer_write(const SeriesOptions& options) {
  return make(options, {Carries::kWritten, false});
}
Schedule call_buffer_read(const SeriesOptions& options) {
  return make(options, {Carries::kRead, false});
}
Schedule call_return(const SeriesOptions& options) {
  return make(options, {Carries::kReturned, false});
}
Schedule broadcast(const SeriesOptions& options) {
  return make(options, {Carries::kInRecord, true});
}
Schedule broadcast_buffer_write(const SeriesOptions& options) {
  return make(options, {Carries::kWritten, true});
}
Schedule broadcast_buffer_read(const SeriesOptions& options) {
  return make(options, {Carries::kRead, true});
}

// Of a call to one target: its post, its arrival, its handler's two, and up to three for a result
// or a notification, or one for the buffer and two for the notification. Chunks: four for a service
// call, two for an offset, and no more of them than calls.
std::uint64_t call_ops(const SeriesOptions& options) {
  const std::uint64_t chunks = options.call.via == CallVia::kWrite ? 4 : 0;
  return options.ranks * (std::uint64_t{7} + chunks) * options.messages + 1;
}

}  // namespace slackline::sched
