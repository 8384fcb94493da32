// The narrow seam between the executor and whatever moves bytes: register memory, connect, post a
// batch, poll a batch. It suits verbs' reliable queue pairs and libfabric's reliable datagrams.
//
// What an implementation promises:
//   - A channel is a one-way queue pair: its `src` initiates, its `dst` receives. The k-th send of
//     a channel completes its k-th receive that expects a send, and the k-th write with immediate
//     the k-th receive that expects a write. (Queue pairs keep one order over both; transports that
//     match in software need to be told which it will be.)
//   - Requests of one channel start in the order in which they were posted. Nothing is said of the
//     order in which they complete, nor of different channels.
//   - A send is complete when its bytes have come to the receiver: in its receive's memory, or in a
//     small message that waits there for a receive to be posted. A write is complete when its bytes
//     stand in the target's memory, a read or an atomic when its result stands in local memory. A
//     receive is complete when its bytes, and for a write with immediate the write's bytes, stand
//     here.
//   - A write without immediate tells the target nothing; who waits for it looks at the memory. The
//     bytes of a write become visible in the order of their addresses; the writes of one channel in
//     the order in which they were posted where writes_in_order() says so.
//   - Progress may depend on poll() being called, at targets of one-sided requests too: a rank
//     polls until all of its peers are through.
//
// Single-threaded: one thread calls all of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace slackline::hw {

/// Opaque to all but the transport that made it; carried between ranks by somebody else.
using Address = std::vector<std::byte>;

/// What a peer needs to know of registered memory to reach it. Plain bytes, the same at every rank.
struct RemoteMemory {
  std::uint64_t address = 0;  // of its first byte, as the transport counts
  std::uint64_t key = 0;

  friend bool operator==(const RemoteMemory&, const RemoteMemory&) = default;
};

/// Registered memory of this process.
struct LocalMemory {
  std::uint32_t handle = 0;  // for Segment::handle
  RemoteMemory remote;       // for peers
};

/// A run of local bytes within registered memory. May be empty.
struct Segment {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::uint32_t handle = 0;  // LocalMemory::handle
};

/// Messages up to this travel between the packets of others, as machine::Platform has it.
inline constexpr std::uint64_t kSmallMessage = 4096;

/// No number of a channel.
inline constexpr std::uint32_t kNoFlow = 0xffffffff;

/// One end of a channel, as this rank sees it.
struct ChannelEnd {
  std::uint32_t channel = 0;  // its number, the same at both ends; below 2^32 − 1
  std::uint32_t peer = 0;     // the other end's rank
  bool initiates = false;     // this rank is its source
  /// The most requests that are ever under way on it at a time, as its user reckons: for how much
  /// room it is made. More are taken as there is room. 0: not known.
  std::uint32_t requests = 0;
  /// No request on it carries more than kSmallMessage bytes. Both ends say the same. A transport
  /// that carries several channels as one stream lets these not wait behind larger messages.
  bool small = false;
  /// Of a transport of several rails (hw/rails_transport.h): which of them. Both ends say the same.
  std::uint32_t rail = 0;
  /// Of a transport that multicasts (multicasts()): the channel of whose messages this one's are
  /// copies, one by one; itself for that channel. kNoFlow: its messages are its own. Both ends say
  /// the same.
  std::uint32_t flow = kNoFlow;
  /// Of an end that receives: its receives expect writes with immediate alone, never a send.
  bool only_writes = false;
};

enum class RequestKind : std::uint8_t {
  kSend,
  kRecv,
  kWrite,
  kWriteImm,
  kRead,
  // Of the remote 64-bit word. Its old value lands locally. All of them are atomic among
  // themselves, from whichever rank they come, the word's own included.
  kFetchAdd,     // += operand
  kFetchAnd,     // &= operand
  kFetchOr,      // |= operand
  kFetchXor,     // ^= operand
  kCompareSwap,  // becomes operand if it is `compare`
};

constexpr bool is_atomic(RequestKind kind) { return kind >= RequestKind::kFetchAdd; }

/// One request. `local` and what it points to belong to the caller; the span is read during post()
/// only, the memory until the completion.
struct WorkRequest {
  RequestKind kind = RequestKind::kSend;
  bool signalled = true;       // else it completes silently, unless it fails
  bool expects_write = false;  // recv: its match is a write with immediate
  std::uint32_t channel = 0;
  std::uint32_t immediate = 0;     // send and write with immediate: 32 bits for the receiver
  std::uint64_t tag = 0;           // named by the completion
  std::span<const Segment> local;  // gathered or scattered in order; at most max_segments()
  RemoteMemory remote;             // one-sided: `address` is that of the first byte touched
  std::uint64_t operand = 0;
  std::uint64_t compare = 0;
};

struct Completion {
  std::uint64_t tag = 0;
  RequestKind kind = RequestKind::kSend;
  std::uint32_t immediate = 0;  // recv
  std::uint64_t bytes = 0;      // recv of a send: what arrived. A write's are not told
};

/// What a rank's multicasts came to, from the beginning of its transport on.
struct MulticastCounts {
  std::uint64_t sent = 0;       // datagrams, each to all members of a group at once
  std::uint64_t received = 0;   // datagrams of flows that end here
  std::uint64_t repeated = 0;   // of those, which had come before
  std::uint64_t early = 0;      // of those, which found neither a receive nor room
  std::uint64_t repaired = 0;   // packets that came to this rank again, by reliable channels
  std::uint64_t repairing = 0;  // packets that this rank sent again

  MulticastCounts& operator+=(const MulticastCounts& other) {
    sent += other.sent;
    received += other.received;
    repeated += other.repeated;
    early += other.early;
    repaired += other.repaired;
    repairing += other.repairing;
    return *this;
  }
  friend bool operator==(const MulticastCounts&, const MulticastCounts&) = default;
};

/// What a transport knows of what it runs on, for people. Empty or 0: it does not know, or there is
/// no such thing.
struct TransportFacts {
  std::string provider;  // "shm", "net", "verbs"
  std::string library;   // with its version: "libfabric 1.17"
  std::string device;    // "mlx5_0", "eth0"
  std::uint32_t port = 0;
  std::string gid;                                // in text, as an IPv6 address
  std::uint32_t mtu = 0;                          // bytes
  std::uint64_t link_bits_per_s = 0;              // as the kernel or the provider tells
  std::optional<MulticastCounts> multicast = {};  // nothing: it does not multicast
};

/// A peer is gone: it died, or no way leads to it any more.
class PeerLost : public Error {
 public:
  PeerLost(std::uint32_t rank, const std::string& message) : Error(message, 1), rank_(rank) {}
  std::uint32_t rank() const { return rank_; }

 private:
  std::uint32_t rank_;
};

/// Errors: EnvironmentError where the machine fails, naming what; PeerLost where a peer does;
/// InternalError where a caller breaks the rules above.
class Transport {
 public:
  /// Where a channel is open still, requests are taken to be under way. They come to nothing, and
  /// no memory is touched, here or by peers; not even if it is gone already.
  virtual ~Transport() = default;
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// For traces and people: "shm", "net", "tcp;ofi_rxm", "verbs".
  virtual std::string_view name() const = 0;

  /// Makes memory usable for requests, by this rank and by its peers. The caller keeps it in
  /// place until it is unregistered. At least 1 byte.
  virtual LocalMemory register_memory(std::span<std::byte> memory) = 0;

  /// Undoes register_memory(): no request may use the memory any more, here or at peers. What was
  /// never unregistered is when this ends.
  virtual void unregister_memory(const LocalMemory& /*memory*/) {}

  /// Opens ends of this rank's channels, before their connect(). What it answers goes to all peers
  /// of these channels: all they need to reach this rank. May be called again, for channels with
  /// other numbers, after connect().
  virtual Address open(std::span<const ChannelEnd> ends) = 0;

  /// Connects the ends of the latest open(). `peers` has the peers' answers to it by rank; those of
  /// ranks that share no channel with this one may be empty. Requests are for when the peers have
  /// connected too: somebody else makes sure of that.
  virtual void connect(std::span<const Address> peers) = 0;

  /// Closes ends of which nothing is under way, but for receives that wait for messages which never
  /// come: these are withdrawn, complete no more, and their memory is left alone. The numbers may
  /// be opened anew.
  virtual void close(std::span<const ChannelEnd> ends) = 0;

  /// Takes requests in order, as many as there is room for, and answers how many; the rest is for
  /// after the next poll().
  virtual std::size_t post(std::span<const WorkRequest> requests) = 0;

  /// Makes progress and fills in completions, the oldest first, without waiting; answers how many.
  virtual std::size_t poll(std::span<Completion> completions) = 0;

  /// Sleeps until poll() may find something, the descriptor `also` (−1: none) is readable, or the
  /// time is over. May return early. Where a provider cannot wake anybody, it naps.
  virtual void wait(std::chrono::nanoseconds timeout, int also) = 0;

  /// The most segments of one request, ≥ 1.
  virtual std::size_t max_segments() const = 0;

  /// Whether the completion of a request that a channel's source initiated says that all requests
  /// initiated before it on the channel are complete too. Where it does, only what is waited for
  /// need be signalled.
  virtual bool completes_in_order() const = 0;

  /// Whether the writes of one channel become visible in the order in which they were posted. Where
  /// they do not, a write that announces others waits for their completions.
  virtual bool writes_in_order() const = 0;

  /// The NUMA node that memory is best taken from; −1: it makes no difference, or is not known.
  virtual int numa_node() const { return -1; }

  /// Names itself at least.
  virtual TransportFacts facts() const {
    TransportFacts facts;
    facts.provider = name();
    return facts;
  }

  /// Whether it takes kFetchAdd and kCompareSwap.
  virtual bool has_atomics() const = 0;
  /// Whether messages that are copies of others (ChannelEnd::flow) cost their first sender one
  /// message only, whoever else gets them.
  virtual bool multicasts() const { return false; }
  /// Whether it takes kFetchAnd, kFetchOr and kFetchXor too. Verbs does not: there compare_swap,
  /// tried until it finds what was there, makes them (hw/executor/requests.h).
  virtual bool has_bitwise_atomics() const { return false; }
};

}  // namespace slackline::hw
