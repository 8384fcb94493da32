// Measured points: what a calibration is fed. The kinds of measurement, what each takes in the
// machine model, and the file that holds them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::analysis {

/// A measurement of m messages of b bytes between two ranks, timed by the clock of one of them, on
/// a machine that does nothing else. Every receive is posted before the clock starts, and the
/// target's program waits for nothing else. With w = b / rate, in the figures of the machine model
/// (docs/architecture.md, "A message, exactly", "Completions that cost the processor"), and with
/// o_send = o_post + o_signal and one look of o_poll for up to B = poll_batch completions, it takes
///
///   kind      measured from … to …                            seconds
///   post      first post begins … m posts by one lane ended   m · o_post
///   pingpong  a send's post begins … m messages, there and    m · (o_send + w + latency
///             back in turn, each sent once the one before       + o_complete + o_poll + o_match)
///             is seen
///   send      first post begins … m sends done, each posted   m · (o_send + w + 2 latency
///             once the one before is done (put: the same)       + o_complete + o_poll)
///   get       the same of gets                                as send
///   atomic    the same of atomics on one address; b = 8       m · (o_send + 2 latency + w
///                                                               + atomic_service + o_complete
///                                                               + o_poll)
///   stream    first post begins … last of m sends done, all   o_post + w + 2 latency + o_complete
///             posted back to back by one lane, the last alone   + o_poll + (m − 1) · max(o_post,
///             with a completion                                 gap, w), and o_signal if the posts
///                                                               pace it
///   burst     the same, each send posted by a lane of its     o_send + w + 2 latency + o_complete
///             own, all at once, with a completion               + o_poll + (m − 1) · max(gap, w)
///   copy      m copies of b bytes by one lane, in turn        m · (copy_start + b / copy_rate)
///   behind    first post begins … a send of b bytes done      b ≤ interleave: about as alone;
///             that was posted after m sends of 1 MiB on       above: at least m · 1 MiB / rate
///             another channel to the same rank
///
/// What completions cost the processor takes measurements that keep them apart from all else. Each
/// holds if the posts are over before the first completion comes, as where messages are large:
///
///   post_recv   first post begins … m receives posted, of     m · o_post_recv
///               messages that come later
///   signaled    as post, where each post asks for a           m · (o_post + o_signal)
///               completion, and none comes before the end
///   drain       the lane is free, where m sends have          ⌈m / B⌉ · o_poll
///               completed meanwhile … the last is done
///   drain_recv  the same of m receives                        ⌈m / B⌉ · o_poll + m · o_match
///
/// The schedules that measure so, for whoever runs them (an engine, or an executor; send and recv
/// stand for any form that the transport has):
///
///   post      rank 0: m sends of b bytes on one lane, whose completions nothing waits for. From
///   the
///             start to issued(last).
///   pingpong  rank 0: sends 1, 3, 5, …; rank 1: sends 2, 4, …; each after the receive of the one
///             before is done. From ready(first) to done(last receive). m = 2 is one round trip.
///             Both clocks are read on rank 0 if m is even; for half a round trip, divide both.
///   send, get, atomic   rank 0: m operations in a row, each after done(the one before). From
///             ready(first) to done(last).
///   stream    rank 0: m sends without edges on one lane, of which only the last is waited for.
///   From
///             ready(first) to done(last).
///   burst     rank 0: the same on m lanes, of which all are waited for.
///   copy      rank 0: m copies in a row on one lane.
///   behind    rank 0: m sends of 1 MiB on one channel, then one of b bytes on another, on one
///             lane. From ready(first) to done(the small one).
///   post_recv   rank 0: m receives on one lane; when they are posted it says so to rank 1, which
///   sends
///             then. From ready(first) to issued(last).
///   signaled  rank 0: m sends on one lane, each of which is waited for. From ready(first) to
///             issued(last).
///   drain     rank 0: the same, and a calculation on the lane, of a millisecond and 8 ns for each
///   byte
///             (1 Gb/s). From its end to done(last send).
///   drain_recv  rank 0: m receives as in post_recv, and the calculation when rank 1 is told. From
///   its
///             end to done(last receive).
///
/// In all of them rank 1 posts its receives first, and a join on rank 0 that waits for a message
/// saying so starts the clock.
enum class PointKind : std::uint8_t {
  kPost,
  kPingpong,
  kSend,
  kGet,
  kAtomic,
  kStream,
  kBurst,
  kCopy,
  kBehind,
  kPostRecv,
  kSignaled,
  kDrain,
  kDrainRecv,
};
inline constexpr int kPointKinds = 13;

/// "post", "pingpong", …
std::string_view name(PointKind kind);
/// The inverse of name(); nothing if there is no such name.
std::optional<PointKind> point_kind_named(std::string_view text);

/// The payload of an atomic, and of the messages that `behind` is behind.
inline constexpr std::uint64_t kAtomicBytes = 8;
inline constexpr std::uint64_t kAheadBytes = std::uint64_t{1} << 20;

struct MeasuredPoint {
  PointKind kind = PointKind::kPingpong;
  std::uint64_t bytes = 0;     // of each message, or of each copy; at most kMaxPointBytes
  std::uint64_t messages = 1;  // 1 … kMaxPointMessages
  double seconds = 0;          // all of them together; kMinPointSeconds … kMaxPointSeconds
  std::uint32_t line = 0;      // of the file; 0: from no file
};
inline constexpr std::uint64_t kMaxPointBytes = std::uint64_t{1} << 50;
inline constexpr std::uint64_t kMaxPointMessages = std::uint64_t{1} << 32;
inline constexpr double kMinPointSeconds = 1e-12;
inline constexpr double kMaxPointSeconds = 1e6;

/// Throws InputError, naming `where`, unless bytes, messages and seconds are those that a point of
/// its kind may have.
void require_sound(const MeasuredPoint& point, std::string_view where);

/// Reads CSV: the head `kind,bytes,messages,seconds`, then a point a line, with bytes and messages
/// as whole numbers and seconds as a decimal number (`1.52e-6`). Lines that begin with `#` and
/// empty lines are passed over. What other benchmarks print is known by its first line, and read as
/// perftest_points.h and benchmark_tables.h say. `file` names it in errors. Throws InputError
/// "file:line: …".
std::vector<MeasuredPoint> read_points(std::string_view text, std::string_view file);

/// The text that read_points() reads back, seconds to the last bit.
std::string write_points(std::span<const MeasuredPoint> points);

}  // namespace slackline::analysis
