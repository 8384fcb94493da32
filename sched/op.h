// The semantics of the schedule IR. They stand here once; every engine, check and exporter follows
// them.
//
// A schedule is a directed graph of operations. Each operation belongs to one rank, and each has
// two events, *issued* and *done*. What `done` means depends on the kind:
//
//   kind                reads        writes          done
//   send                local        (lands in its   acknowledged; the source may be reused
//                                     match)
//   recv                –            local, or none  data has arrived and its completion was seen
//                                     (a credit)
//   put                 local        remote          acknowledged; `imm` matches a recv, `flag` a
//                                                    poll
//   get                 remote       local           data has landed
//   fetch_{add,and,     remote 8 B   the same remote the result has landed
//   or,xor},                         8 B, and the
//   compare_swap                     local result
//   flush               –            –               what the channel's bundle holds has been sent
//   poll                flag bytes   –               the matched put is visible: see Flags
//   copy, reduce        local        local           finished
//   calc                –            –               its CPU lane was busy for `duration`
//   delay, join         –            –               time has passed; all predecessors are there
//
// Slices of one operation: `reads` are gathered in order, `writes` scattered in order; both sides
// of a copy, put or get carry as many bytes. An atomic writes first the remote word, then its local
// result. A reduce reads its operands, each as long as its single write, and combines them there;
// one of 8 bytes may have a duration, and takes that: it counts. A result may be an operand of a
// later one of its rank (OpArguments): an atomic's, or 8 bytes a get begins with, little endian.
//
// What has a reply may be tested: a compare_swap succeeds if it finds what it expects, a get of one
// piece and the other atomics if their result, under a mask, equals `compare` (or does not). A
// test that fails fails the innermost retry of actual outcome around it.
//
// Order. These arcs hold, and no others:
//   (a) issued(o) → done(o);
//   (b) each Edge: issued(pred) or done(pred) → issued(succ), both on one rank;
//   (c) issued(send or put) → done(its match), the only arc that crosses ranks with data;
//   (d) issued(recv) → done(its send or put): a reliable connection does not acknowledge before a
//       receive is posted. This arc *may* hold: it counts for deadlock and for time, but no proof
//       of order rests on it, since some transports complete small sends before. Channels without
//       acknowledgements do not have it: see Services;
//   (e) queue pairs are FIFO: the initiators of a channel (send, put, get, atomics) issue in
//       operation order, and so do its receives. The k-th send, or put with immediate, of a channel
//       matches its k-th receive.
// A cycle of these arcs is a deadlock. Edges join operations of one rank, so that every rank can
// carry out its part with local knowledge alone.
//
// Memory holds zeros where neither a pre fact speaks nor anything was written; only atomics and
// tested gets may look at such bytes. A receive owns what it writes from its issue to its done; a
// put owns its target from its issue to its match's done, or to its own done if nothing notifies;
// every other operation owns what it touches from its issue to its done. Two operations that touch
// a byte, one of them writing, must be ordered by a path of arcs (a), (b), (c) and (e) from the
// first's release to the second's issue.
//
// Flags. A poll looks at memory: it has seen its put as soon as none of the bytes that it reads is
// zero. It sees that put and nothing else if
//   - the poll reads one slice of at least one byte: the last bytes that its put writes, at a fixed
//     address. The bytes of a put land in the order in which it writes them;
//   - these bytes are values of the contract, whose bytes are never zero. The sum of a reduce, a
//     word and what an atomic fetched may have zeros;
//   - until the put is issued the bytes hold zeros: no pre fact names them, and nothing has written
//     there since the start or since a poll lowered them.
// A poll whose bytes a later poll of its rank, or another turn of this one, looks at again lowers
// them: when it is done they are zeros, and no data. Two flags of one rank are the same bytes, or
// share none. The verifier proves all of this (code `flag`); of dynamic schedules only what needs
// no order (sched/flags.h).
//
// Services. A channel is reliable (`rc`), unless it says otherwise. Of datagrams (`ud`) nothing is
// acknowledged, and nothing keeps one that finds no receive: the verifier asks for an order that
// has every receive posted before. On an `eager` channel a message is buffered where no receive
// waits for it, however many there are, as MPI buffers messages up to its eager limit. On both a
// send is done once it has left its sender.
//
// Window. A channel with window w > 0 promises that its k-th message is issued only after its k-th
// receive is posted, and after its (k−w)-th receive is done: at most w receives wait, and never a
// message without one. Credits (`credit_on`) are what usually enforces it. A channel
// that any channel names there, itself included, carries control, not data: credits, or barriers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "sched/ids.h"

namespace slackline::sched {

enum class OpKind : std::uint8_t {
  kSend,
  kRecv,
  kPut,
  kGet,
  kFetchAdd,
  kFetchAnd,
  kFetchOr,
  kFetchXor,
  kCompareSwap,
  kFlush,
  kPoll,
  kCopy,
  kReduce,
  kCalc,
  kDelay,
  kJoin,
};
inline constexpr int kOpKinds = 16;

enum class Notify : std::uint8_t { kNone, kImm, kFlag };
enum class Service : std::uint8_t { kReliable, kDatagram, kEager };   // text: rc, ud, eager
enum class Bundle : std::uint8_t { kNone, kTraditional, kOverflow };  // text: none, trad, ovfl
enum class On : std::uint8_t { kIssued, kDone };

/// A run of entries in the schedule's table of slices.
struct SliceRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend constexpr bool operator==(SliceRange, SliceRange) = default;
};

/// An operation's argument: absent, a literal, or what became of an operation of the same rank: its
/// 64-bit result, or how often it had run before the last time (0 in its first attempt). A literal
/// is `value`; the others are (x · value + addend) mod modulus. An operation's own result is that
/// of the time before, 0 at first.
struct Operand {
  enum class From : std::uint8_t { kAbsent, kLiteral, kResult, kAttempt };
  From from = From::kAbsent;
  OpId op;                    // kResult, kAttempt: whose
  std::uint64_t value = 0;    // kLiteral: the value; else the multiplier
  std::uint64_t addend = 0;   // kResult, kAttempt
  std::uint64_t modulus = 0;  // likewise; 0 is 2^64

  /// Whether it depends on a run.
  constexpr bool is_dynamic() const { return from == From::kResult || from == From::kAttempt; }
  /// Its value, `x` being the result or the attempt; modulo 2^64 before the modulus is taken.
  constexpr std::uint64_t of(std::uint64_t x) const {
    const std::uint64_t sum = x * value + addend;
    return modulus == 0 ? sum : sum % modulus;
  }
  friend constexpr bool operator==(Operand, Operand) = default;
};

enum class Expect : std::uint8_t { kEqual, kUnequal };

/// What only few operations carry, kept apart from Op.
struct OpArguments {
  Time duration{0};        // calc, delay; reduce of words: 0 is the time of its bytes
  Operand operand;         // fetch_*: the operand; compare_swap: the value to swap in
  Operand compare;         // compare_swap: the expected value; get, fetch_*: what tests the result
  Operand address_offset;  // one-sided: bytes added to the remote slice's offset
  std::uint64_t compare_mask = ~std::uint64_t{0};  // get, fetch_*: the bits that are tested
  Expect expect = Expect::kEqual;                  // get, fetch_*
  friend constexpr bool operator==(OpArguments, OpArguments) = default;
};

inline constexpr std::uint32_t kNoArguments = 0xffffffffu;

/// One operation. Ops of a schedule are grouped by rank; within a rank their order is program
/// order.
struct Op {
  OpKind kind = OpKind::kJoin;
  Notify notify = Notify::kNone;
  std::uint16_t lane = 0;  // CPU lane of the rank that issues it
  RankId rank;
  ChannelId channel;  // send, recv, put, get, atomics, flush
  OpId match;         // send, put ↔ recv, poll
  SliceRange reads;
  SliceRange writes;
  std::uint32_t arguments = kNoArguments;  // place in Schedule::argument_table()
  std::uint32_t step = 0;
};
static_assert(sizeof(Op) == 40);

/// A piece of a buffer. The buffer's rank tells whether it is local.
struct Slice {
  BufferId buffer;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  friend constexpr bool operator==(Slice, Slice) = default;
};

/// Registered memory of one rank.
struct Buffer {
  RankId rank;
  std::uint64_t bytes = 0;
};

/// issued(pred) or done(pred) must come before issued(succ); both on the same rank.
struct Edge {
  OpId pred;
  OpId succ;
  On on = On::kDone;
  friend constexpr auto operator<=>(Edge, Edge) = default;
};

/// A queue pair, seen from its initiator: src initiates towards dst.
struct Channel {
  RankId src;
  RankId dst;
  Service service = Service::kReliable;
  Bundle bundle = Bundle::kNone;
  std::uint32_t window = 0;        // 0: no promise
  ChannelId credit_on;             // the channel that carries this one's credits
  std::uint32_t credit_batch = 1;  // messages a credit stands for
  std::uint64_t bundle_bytes = 0;  // a bundle is sent when it holds this much
  Time bundle_delay = kForever;    // …or when its oldest message has waited this long
};

enum class RegionKind : std::uint8_t { kRetry, kAlt, kRepeat };
enum class RegionOutcome : std::uint8_t { kSampled, kActual };

/// A run of a rank's operations whose execution depends on chance or on a result: repeated until it
/// succeeds (retry), taken or not (alt), or run `max_attempts` times (repeat).
struct Region {
  RegionKind kind = RegionKind::kRetry;
  OpId entry;               // first operation
  std::uint32_t count = 0;  // operations in it
  std::uint32_t max_attempts = 1;
  PartsPerMillion p;  // sampled: the chance of success (retry) or of being taken (alt)
  RegionOutcome outcome = RegionOutcome::kSampled;
  Time backoff{0};  // between attempts
};

/// "These bytes of this value stand in this slice": value bytes [value_offset, +slice.bytes). With
/// `terms` > 1 what stands there was reduced: it is the sum of the values value … value + terms −
/// 1, each of them once, byte by byte modulo 256. Only post facts speak of sums.
struct Fact {
  Slice slice;
  ValueId value;
  std::uint32_t terms = 1;
  std::uint64_t value_offset = 0;

  Fact() = default;
  Fact(Slice where, ValueId what, std::uint64_t from, std::uint32_t summed = 1)
      : slice(where), value(what), terms(summed), value_offset(from) {}
};

constexpr bool is_atomic(OpKind kind) {
  return kind >= OpKind::kFetchAdd && kind <= OpKind::kCompareSwap;
}
/// Initiates a message on a channel: send, put, get or an atomic.
constexpr bool is_initiator(OpKind kind) {
  return kind == OpKind::kSend || kind == OpKind::kPut || kind == OpKind::kGet || is_atomic(kind);
}
/// A send is done once it is acknowledged; else once it has left its sender.
constexpr bool is_acknowledged(Service service) { return service == Service::kReliable; }
/// Is two messages: a request without bytes, and the reply. Gets and atomics.
constexpr bool has_reply(OpKind kind) { return kind == OpKind::kGet || is_atomic(kind); }
/// Takes part in the FIFO matching of a channel as its source side.
constexpr bool is_fifo_source(const Op& op) {
  return op.kind == OpKind::kSend || (op.kind == OpKind::kPut && op.notify == Notify::kImm);
}
constexpr bool has_channel(OpKind kind) {
  return is_initiator(kind) || kind == OpKind::kRecv || kind == OpKind::kFlush;
}

/// The names of the text form: "send", "fetch_add", "imm", "rc", …
std::string_view name(OpKind kind);
std::string_view name(Notify notify);
std::string_view name(Service service);
std::string_view name(Bundle bundle);
std::string_view name(On on);
std::string_view name(RegionKind kind);
std::string_view name(RegionOutcome outcome);
std::string_view name(Expect expect);

/// The inverse of name(); nothing if there is no such name.
std::optional<OpKind> op_kind_named(std::string_view text);
std::optional<Notify> notify_named(std::string_view text);
std::optional<Service> service_named(std::string_view text);
std::optional<Bundle> bundle_named(std::string_view text);
std::optional<On> on_named(std::string_view text);
std::optional<RegionKind> region_kind_named(std::string_view text);
std::optional<RegionOutcome> outcome_named(std::string_view text);
std::optional<Expect> expect_named(std::string_view text);

}  // namespace slackline::sched
