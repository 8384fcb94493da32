#include "sched/workloads/calls/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "base/error.h"
#include "sched/pattern/shared_options.h"
#include "sched/program_writer.h"
#include "sched/workloads/calls/call_memory.h"
#include "sched/workloads/calls/message_limits.h"

namespace slackline::sched {
namespace {

constexpr std::uint16_t kService = 1;  // the lane; handlers have lane 0
// Aggregated records that a target polls for at once.
constexpr std::uint32_t kLookedFor = 64;

void check(const Spec& spec) {
  const CallOptions& call = spec.own<CallOptions>();
  check(spec.multicast);
  if (spec.slots == 0) throw InputError("slots: 0; expected at least 1");
  if (call.chunks == 0) throw InputError("chunks: 0; expected at least 1");
  if (call.chunk_limit == 0) throw InputError("chunk-limit: 0; expected at least 1");
  if (spec.messages > (1u << 30)) {
    throw InputError(fmt::format("messages: {}; expected at most {}", spec.messages, 1u << 30));
  }
  check_message_limits(spec, 2 * kCallWord, call_ops);
}

class CallPrograms {
 public:
  CallPrograms(const Spec& spec, CallShape shape)
      : spec_(spec),
        options_(spec.own<CallOptions>()),
        out_(spec.multicast.ranks),
        memory_(spec, shape, out_) {}

  Schedule run() {
    out_.set_title(format_spec(spec_));
    out_.set_message_bytes(spec_.messages * spec_.multicast.bytes);
    for (CallNode& node : memory_.nodes()) add_program(node);
    for (const CallNode& node : memory_.nodes()) add_matches(node);
    return out_.build();
  }

 private:
  void add_program(CallNode& node) {
    if (!memory_.is_root(node) && memory_.one_sided()) answer_services(node);
    for (std::uint32_t m = 0; m < memory_.calls(); ++m) {
      OpId ready = memory_.is_root(node) ? serialize(node, m) : receive(node, m);
      if (!memory_.is_root(node) && memory_.shape().carries == Carries::kRead)
        ready = read_buffer(node, m, ready);
      node.consumed_by.emplace_back();
      for (const std::uint32_t child : node.children) {
        node.consumed_by[m].push_back(pass_on(node, memory_.nodes()[child], m, ready));
      }
      if (memory_.runs_calls(node)) handle(node, m, ready);
      if (!memory_.is_root(node) && memory_.one_sided()) push_offset(node, m);
    }
    if (memory_.is_root(node)) wait_for_notifications();
  }

  // The service thread answers with handles of chunks.
  void answer_services(CallNode& node) {
    for (std::uint32_t s = 0; s < memory_.chunks().services(); ++s) {
      const OpPlace at{node.rank, 0, kService};
      const OpId asked = out_.receive(at, node.asks, memory_.word(node.asked, s));
      out_.send(at, node.answers, memory_.mark_of(node), {asked});
    }
  }

  // The root makes record m where it leaves from, if it does not stand there already: in program
  // order, so after the posts of the call before, and what it waited for behind them.
  OpId serialize(const CallNode& root, std::uint32_t m) {
    if (options_.serialize == CallSerialize::kInPlace) return OpId::none();
    const OpId made =
        out_.copy({root.rank, m}, {memory_.captured(root, m)}, memory_.record(root, m));
    for (const std::uint32_t c : root.children) {
      const std::vector<OpId>& posts = memory_.nodes()[c].posts;
      if (!posts.empty())
        out_.after(posts.back(), made, is_awaited(posts) ? On::kDone : On::kIssued);
    }
    return made;
  }

  OpId receive(CallNode& node, std::uint32_t m) {
    if (memory_.one_sided()) {
      const OpId seen =
          out_.poll({node.rank, m}, end_of(memory_.landed_record(node, m), kCallWord));
      // A bundle's records are looked for together: seeing one after another would take each its
      // time. A place is looked at for one record only.
      const auto ahead = static_cast<std::uint32_t>(
          aggregates() ? std::min<std::uint64_t>(kLookedFor, memory_.chunks().places()) : 1);
      if (m >= ahead) out_.after(node.arrivals[m - ahead], seen);
      node.arrivals.push_back(seen);
      return seen;
    }
    node.arrivals.push_back(
        out_.receive({node.rank, m, kService}, node.calls, memory_.record(node, m)));
    if (m >= spec_.slots) out_.after(node.consumed_by[m - spec_.slots], node.arrivals.back());
    return node.arrivals.back();
  }

  OpId read_buffer(CallNode& node, std::uint32_t m, OpId arrived) {
    return out_.get({node.rank, m}, node.back, memory_.buffer(memory_.nodes()[node.parent], m),
                    memory_.buffer(node, m), {arrived});
  }

  // `node` makes call m to its child, or passes it on. Answers who read the record.
  OpId pass_on(CallNode& node, CallNode& child, std::uint32_t m, OpId ready) {
    const OpPlace at{node.rank, m};
    OpId written;
    if (memory_.shape().carries == Carries::kWritten) {
      written = posted(child, out_.put(at, child.writes, memory_.buffer(node, m),
                                       memory_.buffer(child, m), Notify::kNone, {ready}));
    }
    const OpId room = memory_.one_sided() && memory_.chunks().is_first(m)
                          ? find_room(node, child, m)
                          : OpId::none();
    // The later ones of a chunk follow the one that waits for room by the order of their channel.
    const Slice record = memory_.record(node, m);
    const OpId sent =
        memory_.one_sided()
            ? out_.put(at, child.calls, {record, memory_.mark_of(node)},
                       memory_.landed_record(child, m), Notify::kFlag, {ready, written, room})
            : out_.send(at, child.calls, record, {ready, written, room});
    child.sent.push_back(posted(child, sent));
    if (aggregates() && needs_flush(node, m)) out_.add(out_.op(OpKind::kFlush, at, child.calls));
    return sent;
  }

  bool aggregates() const { return options_.aggregation != Bundle::kNone; }
  // What the target waits for before it gives room for more must not be kept back.
  bool needs_flush(const CallNode& node, std::uint32_t m) const {
    if (m + 1 == memory_.calls()) return true;
    if (memory_.one_sided()) return memory_.chunks().is_last(m);
    return !memory_.is_root(node) && (m + 1) % spec_.slots == 0;
  }

  // Whether the last of these posts of a channel is waited for before there is another.
  bool is_awaited(const std::vector<OpId>& posts) const {
    const std::uint32_t every = aggregates() ? 0 : options_.signal;
    return every != 0 && !posts.empty() && posts.size() % every == 0;
  }
  OpId posted(CallNode& child, OpId op) {
    if (is_awaited(child.posts)) out_.after(child.posts.back(), op);
    child.posts.push_back(op);
    return op;
  }

  // What the first call into a chunk waits for, if anything.
  OpId find_room(CallNode& node, CallNode& child, std::uint32_t m) {
    const OpPlace at{node.rank, m};
    const std::uint32_t use = memory_.chunks().use(m);
    if (use >= memory_.chunks().chunks()) {
      const std::uint32_t push = use - memory_.chunks().chunks();
      const OpId before = push > 0 ? child.offsets_seen.back() : OpId::none();
      child.offsets_seen.push_back(out_.poll(at, memory_.word(child.consumed, push), {before}));
      return child.offsets_seen.back();
    }
    if (!memory_.chunks().obtains(use)) return OpId::none();
    const OpId answer =
        out_.receive(at, child.answers, memory_.word(child.handles, memory_.chunks().service(use)));
    const OpId ask = out_.send(at, child.asks, memory_.mark_of(node));
    out_.after(answer, ask, On::kIssued);
    if (m > 0) out_.after(child.sent.back(), ask, On::kIssued);
    return answer;
  }

  void handle(CallNode& node, std::uint32_t m, OpId ready) {
    const OpPlace at{node.rank, m};
    const Slice state{node.state, 0, memory_.read_bytes()};
    Slice read = memory_.record(node, m);
    read.bytes = state.bytes;
    if (options_.reads == CallReads::kCount) {
      node.last = count(at, state, read, m == 0, {ready, node.last});
    } else {
      const OpId run = out_.calc(at, spec_.handler, {ready, node.last});
      node.last = out_.accumulate(at, state, read, m == 0, {run});
    }
    node.consumed_by[m].push_back(node.last);
    if (memory_.is_root(node)) return;
    if (memory_.shape().carries == Carries::kReturned) {
      give_back(node, m);
    } else if (memory_.notifies()) {
      node.told.push_back(out_.put(at, node.sync, memory_.mark_of(node),
                                   memory_.word(node.words, m), Notify::kFlag, {node.last}));
    }
  }

  // Nothing stands in the word before the first.
  OpId count(const OpPlace& at, const Slice& word, const Slice& operand, bool first,
             std::initializer_list<OpId> after) {
    OpArguments arguments;
    arguments.duration = spec_.handler;
    const Op op = first ? out_.op(OpKind::kReduce, at, {}, operand, word)
                        : out_.op(OpKind::kReduce, at, {}, {word, operand}, word);
    return out_.add(op, arguments, after);
  }

  // The result is what the arguments add up to so far.
  void give_back(CallNode& node, std::uint32_t m) {
    const OpPlace at{node.rank, m};
    const Slice result{node.results, m * spec_.multicast.bytes, spec_.multicast.bytes};
    node.last =
        out_.copy(at, {{node.state, kCallWord, spec_.multicast.bytes}}, result, {node.last});
    node.told.push_back(out_.put(at, node.back, {result, memory_.mark_of(node)},
                                 memory_.landed_result(node, m), Notify::kFlag, {node.last}));
  }

  // The consumed offset, once all of a chunk is consumed.
  void push_offset(CallNode& node, std::uint32_t m) {
    const std::uint32_t use = memory_.chunks().use(m);
    if (!memory_.chunks().is_last(m) || use >= memory_.chunks().pushes()) return;
    node.offsets.push_back(out_.put({node.rank, m}, node.back, memory_.mark_of(node),
                                    memory_.word(node.consumed, use), Notify::kFlag));
    for (std::uint32_t c = m + 1; c-- > 0 && memory_.chunks().use(c) == use;) {
      out_.after(node.consumed_by[c], node.offsets.back());
    }
  }

  void wait_for_notifications() {
    CallNode& root = memory_.nodes().front();
    const std::uint32_t last = memory_.calls() - 1;
    const bool results = memory_.shape().carries == Carries::kReturned;
    for (std::uint32_t i = 1; i < memory_.nodes().size() && (results || memory_.notifies()); ++i) {
      for (std::uint32_t m = 0; m < memory_.calls(); ++m) {
        CallNode& node = memory_.nodes()[i];
        const Slice told = results ? memory_.landed_result(node, m) : memory_.word(node.words, m);
        node.seen.push_back(out_.poll({root.rank, m}, end_of(told, kCallWord)));
      }
    }
    const OpId all = out_.join({root.rank, last});
    for (const CallNode& node : memory_.nodes()) {
      if (memory_.is_root(node)) continue;
      if (results || memory_.notifies()) {
        out_.after(node.seen, all);
      } else if (node.parent == 0) {
        out_.after(node.posts.back(), all);
      }
    }
  }

  void add_matches(const CallNode& node) {
    for (std::size_t m = 0; memory_.one_sided() && m < node.sent.size(); ++m) {
      out_.add_flag_match(node.sent[m], node.arrivals[m]);
    }
    for (std::size_t i = 0; i < node.offsets.size(); ++i) {
      out_.add_flag_match(node.offsets[i], node.offsets_seen[i]);
    }
    for (std::size_t i = 0; i < node.told.size(); ++i) {
      out_.add_flag_match(node.told[i], node.seen[i]);
    }
  }

  const Spec& spec_;
  const CallOptions& options_;
  ProgramWriter out_;
  CallMemory memory_;
};

Schedule make(const Spec& spec, CallShape shape) {
  check(spec);
  const CallReads reads = spec.own<CallOptions>().reads;
  if (shape.carries == Carries::kReturned && reads != CallReads::kAll) {
    throw InputError(fmt::format("reads: {}; expected all, since the result is of what was read",
                                 reads == CallReads::kCount ? "count" : "identifier"));
  }
  if (reads == CallReads::kCount && spec.handler.count() <= 0) {
    throw InputError("handler: 0; expected more than 0 with reads=count, whose calls take that");
  }
  return CallPrograms(spec, shape).run();
}

}  // namespace

Schedule call(const Spec& spec) { return make(spec, {}); }
Schedule call_buffer_write(const Spec& spec) { return make(spec, {Carries::kWritten, false}); }
Schedule call_buffer_read(const Spec& spec) { return make(spec, {Carries::kRead, false}); }
Schedule call_return(const Spec& spec) { return make(spec, {Carries::kReturned, false}); }
Schedule broadcast(const Spec& spec) { return make(spec, {Carries::kInRecord, true}); }
Schedule broadcast_buffer_write(const Spec& spec) { return make(spec, {Carries::kWritten, true}); }
Schedule broadcast_buffer_read(const Spec& spec) { return make(spec, {Carries::kRead, true}); }

// Of a call to one target: its post, its arrival, its handler's two, and up to three for a result
// or a notification, or one for the buffer and two for the notification. Chunks: four for a service
// call, two for an offset, and no more of them than calls, nor of flushes. At the root: its copy.
std::uint64_t call_ops(const Spec& spec) {
  const CallOptions& options = spec.own<CallOptions>();
  const std::uint64_t chunks = options.via == CallVia::kWrite ? 4 : 0;
  const std::uint64_t flush = options.aggregation == Bundle::kNone ? 0 : 1;
  const std::uint64_t copies = options.serialize == CallSerialize::kCopy ? spec.messages : 0;
  return spec.multicast.ranks * (std::uint64_t{7} + chunks + flush) * spec.messages + copies + 1;
}

namespace {

constexpr auto kCallOptions = option_list(
    kRanksOption, kBytesOption, kRootOption, kMessagesOption, kSlotsOption,
    choice_option<&CallOptions::via>("via", "write|send", "calls: into chunks or slots"),
    size_option<&CallOptions::chunk_bytes>("chunk", "a size, 1 or more",
                                           "calls: of a receive buffer"),
    count_option<&CallOptions::chunks>("chunks", "1 or more",
                                       "calls: receive buffers obtained at a time"),
    count_option<&CallOptions::chunk_limit>("chunk-limit", "1 or more",
                                            "calls: receive buffers of one channel"),
    choice_option<&CallOptions::notify>("notify", "transmit|consume",
                                        "calls: once a call is sent, or has run"),
    count_option<&CallOptions::signal>("signal", "0 or more",
                                       "calls: posts per one that is waited for, 0: none", 0),
    kHandlerOption,
    choice_option<&CallOptions::reads>("reads", "all|identifier|count",
                                       "calls: what a function reads of its record"),
    choice_option<&CallOptions::serialize>("serialize", "in-place|copy",
                                           "calls: records are copied to be sent, or not"),
    choice_option<&CallOptions::aggregation>("aggregation", "none|trad|ovfl",
                                             "calls: records gathered in queues"),
    size_option<&CallOptions::flush_bytes>("flush", "a size",
                                           "aggregation: a queue is sent when full"));

}  // namespace

constinit const PatternEntry kCallPattern =
    schedule_entry("call", "Seriema's call: the root has every other rank run a function",
                   kCallOptions, call, call_ops);
constinit const PatternEntry kCallBufferPattern = schedule_entry(
    "call-buffer", "a call with its buffer transmitted in it", kCallOptions, call, call_ops);
constinit const PatternEntry kCallBufferWritePattern =
    schedule_entry("call-buffer-write", "a buffer written into the target's, and then the call",
                   kCallOptions, call_buffer_write, call_ops);
constinit const PatternEntry kCallBufferReadPattern =
    schedule_entry("call-buffer-read", "a call whose target reads the caller's buffer first",
                   kCallOptions, call_buffer_read, call_ops);
constinit const PatternEntry kCallReturnPattern =
    schedule_entry("call-return", "a call whose result is written back to the caller", kCallOptions,
                   call_return, call_ops);
constinit const PatternEntry kBroadcastPattern = schedule_entry(
    "broadcast", "a call to all ranks along a binomial tree", kCallOptions, broadcast, call_ops);
constinit const PatternEntry kBroadcastBufferPattern =
    schedule_entry("broadcast-buffer", "a broadcast with its buffer transmitted in it",
                   kCallOptions, broadcast, call_ops);
constinit const PatternEntry kBroadcastBufferWritePattern =
    schedule_entry("broadcast-buffer-write", "buffers written down the tree, each before its call",
                   kCallOptions, broadcast_buffer_write, call_ops);
constinit const PatternEntry kBroadcastBufferReadPattern = schedule_entry(
    "broadcast-buffer-read", "a broadcast in which each rank reads its parent's buffer",
    kCallOptions, broadcast_buffer_read, call_ops);

}  // namespace slackline::sched
