// Remote invocation: the primitives of Seriema's Table 1 as schedules of their own.
#pragma once

#include "sched/pattern/pattern.h"

namespace slackline::sched {

/// How a call's record travels: by one-sided writes, or by messages.
enum class CallVia : std::uint8_t { kWrite, kSend };
/// What a caller is notified of: that its call is transmitted, or that the target has run it.
enum class CallNotify : std::uint8_t { kTransmit, kConsume };
/// What a function reads of its record.
enum class CallReads : std::uint8_t { kAll, kIdentifier, kCount };
/// Where the caller makes its records: where they leave from, or elsewhere, to be copied there.
enum class CallSerialize : std::uint8_t { kInPlace, kCopy };

/// What calls are told beside.
struct CallOptions {
  CallVia via = CallVia::kWrite;
  CallNotify notify = CallNotify::kTransmit;
  CallReads reads = CallReads::kAll;
  CallSerialize serialize = CallSerialize::kInPlace;
  std::uint64_t chunk_bytes = 16ull << 20;  // of a receive buffer: eight pages of 2 MiB
  std::uint32_t chunks = 2;                 // obtained at a time (Seriema's c), ≥ 1
  std::uint32_t chunk_limit = 16;           // of one channel (c_max), ≥ 1
  std::uint32_t signal = 64;           // every so many posts one is waited for (u_max); 0: none
  Bundle aggregation = Bundle::kNone;  // of records
  std::uint64_t flush_bytes = 4096;    // aggregated: sent when it is as much
};

/// The root makes `messages` calls to every other rank: directly, or (broadcasts) along a binomial
/// tree, in which case it runs them too. What a call is made of is a record: the function's
/// identifier (8 bytes) and what goes with it.
///
///   call                   func() with `bytes` of captured variables in the record
///   call-buffer            func(buffer): `bytes` transmitted with the call, in the record
///   call-buffer-write      `bytes` written into the target's buffer, and only then the call
///   call-buffer-read       the target reads `bytes` from the caller's buffer before it runs func
///   call-return            as call; `bytes` of func's result are written back to the caller
///   broadcast, broadcast-buffer, broadcast-buffer-write, broadcast-buffer-read
///                          the same along the tree; each rank passes a call on before it runs it
///
/// How a record travels (section 4): `via=write` into chunks at the target, of CallOptions::
/// chunk_bytes, with a mark behind it that the target polls for. Chunks are obtained by service
/// calls that the target's service thread (lane 1) answers, `chunks` at a time up to `chunk_limit`,
/// and then used in turn: the target writes its consumed offset back only when a chunk is used up,
/// and only where the caller waits for it. A static schedule takes the target for slow: the caller
/// always grows to the limit before it uses a chunk again. `via=send` into `slots` receives that
/// the service thread posts, with no flow control.
///
/// With serialize=copy the root copies each record, an identifier and what is captured, into the
/// memory that it leaves from, once for all targets: after all posts of the call before, and what
/// is waited for behind them. Seriema's table 2 has that copying in its calls. Without it records
/// stand there already. (What is gathered is copied into its bundle in any case.)
///
/// The handler is a calc of Spec::handler on the target's lane 0, and then a reduce that
/// adds the record to the target's state: handlers run in the order of their channel. With
/// reads=identifier it adds the identifier alone, as an empty function leaves its arguments unread:
/// the reduce takes the time of 8 bytes, and of the arguments nothing is proved. With reads=count
/// it is counted: a reduce of the same words takes Spec::handler, which is an empty function's
/// time, and stands for both. So a run proves as much, and no byte of a record takes time. Every
/// `signal`-th post of a channel is waited for before the next one (selective signalling,
/// section 4.1; 0: none is). The caller's last operation joins its notifications: with
/// notify=transmit the last completion of every channel, with notify=consume a word per call that
/// each target writes after its handler. The result of call-return stands for that word. A step is
/// a call.
///
/// With CallOptions::aggregation, records are gathered (Channel::bundle) and sent when they are
/// flush_bytes together, at the end of a chunk, and after the last; buffers that are written go by
/// a channel of their own. `trad` gathers always, `ovfl` while `signal` records are under way. Then
/// no record is waited for: `signal` is the executor's.
///
/// The contract: every target's state is the sum of all records, each once, and every buffer is
/// there. Result m of call-return is the sum of what calls 0 … m carried, which also says in what
/// order they ran. Throw InputError for options out of their range, for reads=identifier or count
/// where a result comes back, which is of what was read, and for reads=count of functions that take
/// no time.
Schedule call(const Spec& spec);
Schedule call_buffer_write(const Spec& spec);
Schedule call_buffer_read(const Spec& spec);
Schedule call_return(const Spec& spec);
Schedule broadcast(const Spec& spec);
Schedule broadcast_buffer_write(const Spec& spec);
Schedule broadcast_buffer_read(const Spec& spec);

/// How many operations they make, or a few more.
std::uint64_t call_ops(const Spec& spec);
extern const PatternEntry kCallPattern;
extern const PatternEntry kCallBufferPattern;
extern const PatternEntry kCallBufferWritePattern;
extern const PatternEntry kCallBufferReadPattern;
extern const PatternEntry kCallReturnPattern;
extern const PatternEntry kBroadcastPattern;
extern const PatternEntry kBroadcastBufferPattern;
extern const PatternEntry kBroadcastBufferWritePattern;
extern const PatternEntry kBroadcastBufferReadPattern;

}  // namespace slackline::sched
