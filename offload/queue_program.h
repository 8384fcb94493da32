// What NICs are told to carry out a schedule alone: work queues whose entries send, receive, wait
// for completions and hand further entries to other queues (CORE-Direct, "cross-channel"). Plain
// data, immutable, made only by QueueProgramBuilder.
//
// Every queue is worked off in order, and each by itself:
//   send, write  the message goes to the queue at the other end (`peer`); with `signaled` a
//                completion is written to the queue's completion queue once it is acknowledged
//   recv         where the next message lands; its completion is always written
//   wait         nothing behind it starts before the completion queue `target` has had `count`
//                completions
//   send_enable, recv_enable
//                the entries of queue `target` before `count` may be carried out
//   nop          nothing; with `signaled` its completion is written
// A managed queue starts no entry that was not enabled. The host posts everything, rings the
// doorbells of the queues that are not managed, and does no more.
//
// Counts are absolute: they begin at the `start` of their queue or completion queue, which is where
// the message before left it, and never wrap (64 bits). What the hardware wraps is the encoder's.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sched/digest.h"
#include "sched/ids.h"
#include "sched/op.h"

namespace slackline::offload {

using CqId = sched::Id<struct CqTag>;
using QueueId = sched::Id<struct QueueTag>;

/// How the queues keep the schedule's order.
enum class Mode : std::uint8_t {
  kSqWait,    // "sq-wait": waits stand in the send queues, before what they hold back
  kMqEnable,  // "mq-enable": one management queue per rank waits and enables send queues
  kRdmcMq,    // "rdmc-mq": it enables a step's receive and send and waits for both (RDMC's order)
};

/// How a sender knows that its receives are posted.
enum class Readiness : std::uint8_t {
  kNone,       // "none": it does not; the NIC repeats what comes too early (RNR)
  kHandshake,  // "handshake": every receive is posted at the start, then one message per edge says
               // so
  kWindow,     // "window": receives are enabled a window ahead; credits say how many
};

enum class QueueKind : std::uint8_t { kSend, kReceive, kManagement };

/// What a queue is for.
enum class Purpose : std::uint8_t {
  kData,     // the schedule's messages
  kReady,    // handshakes
  kCredit,   // credits, and enabling the receives they speak of
  kOrder,    // management: waits and enables
  kCollect,  // management: waits for everything of its rank, then tells the host
};

enum class EntryKind : std::uint8_t {
  kNop,
  kSend,
  kWrite,  // with immediate: takes a receive at the other end
  kRecv,
  kWait,
  kSendEnable,
  kRecvEnable,
};
inline constexpr int kEntryKinds = 7;

struct CompletionQueue {
  sched::RankId rank;
  std::uint64_t start = 0;  // completions it has had before
  friend bool operator==(const CompletionQueue&, const CompletionQueue&) = default;
};

struct Queue {
  sched::RankId rank;
  QueueKind kind = QueueKind::kSend;
  Purpose purpose = Purpose::kData;
  bool managed = false;
  std::uint32_t pair = 0;   // the queue pair it is half of, numbered over all ranks
  CqId cq;                  // where its completions go
  QueueId peer;             // send ↔ receive, at the other end; none() for management
  QueueId serves;           // ready, credit: the data queue of this rank that they are about
  std::uint64_t start = 0;  // entries it has had before
  std::uint32_t first = 0;  // its entries, in the program's table
  std::uint32_t count = 0;
  friend bool operator==(const Queue&, const Queue&) = default;
};

struct Entry {
  EntryKind kind = EntryKind::kNop;
  bool signaled = false;
  std::uint32_t target = 0;  // wait: completion queue; enable: queue
  std::uint64_t count = 0;   // wait, enable
  sched::SliceRange local;   // send, write: gathered; recv: scattered
  sched::SliceRange remote;  // write
  sched::OpId op;            // the operation of the schedule; none() if it has none
  std::uint32_t step = 0;
  std::uint32_t latest = 0;  // the step at which it must start if nothing is to end later
  friend bool operator==(const Entry&, const Entry&) = default;
};

constexpr bool is_message(EntryKind kind) {
  return kind == EntryKind::kSend || kind == EntryKind::kWrite;
}
constexpr bool is_enable(EntryKind kind) {
  return kind == EntryKind::kSendEnable || kind == EntryKind::kRecvEnable;
}
/// Whether carrying it out writes a completion.
constexpr bool completes(const Entry& entry) {
  return entry.kind == EntryKind::kRecv || entry.signaled;
}

class QueueProgram {
 public:
  /// The schedule that it carries out.
  sched::Digest schedule() const { return schedule_; }
  /// What made that schedule, a spec; may be empty. For people; not part of the digest.
  const std::string& title() const { return title_; }
  Mode mode() const { return mode_; }
  Readiness readiness() const { return readiness_; }
  /// Receives enabled ahead; 0 unless readiness is kWindow.
  std::uint32_t window() const { return window_; }

  std::uint32_t rank_count() const { return ranks_; }
  std::span<const sched::Buffer> buffers() const { return buffers_; }
  std::span<const sched::Slice> slices() const { return slices_; }
  std::span<const sched::Slice> slices(sched::SliceRange range) const {
    return std::span(slices_).subspan(range.first, range.count);
  }
  std::span<const CompletionQueue> cqs() const { return cqs_; }
  const CompletionQueue& cq(CqId id) const { return cqs_[id.value]; }
  std::span<const Queue> queues() const { return queues_; }
  const Queue& queue(QueueId id) const { return queues_[id.value]; }
  /// The entries of all queues; a queue's stand together, in the order of the queues.
  std::span<const Entry> entries() const { return entries_; }
  std::span<const Entry> entries(const Queue& queue) const {
    return std::span(entries_).subspan(queue.first, queue.count);
  }
  std::uint64_t bytes(sched::SliceRange range) const;

  /// Over every field but the title, so that the same digest is the same program.
  sched::Digest digest() const { return digest_; }

  friend bool operator==(const QueueProgram& a, const QueueProgram& b);

 private:
  friend class QueueProgramBuilder;
  QueueProgram() = default;
  sched::Digest compute_digest() const;

  sched::Digest schedule_;
  std::string title_;
  Mode mode_ = Mode::kSqWait;
  Readiness readiness_ = Readiness::kHandshake;
  std::uint32_t window_ = 0;
  std::uint32_t ranks_ = 1;
  std::vector<sched::Buffer> buffers_;
  std::vector<sched::Slice> slices_;
  std::vector<CompletionQueue> cqs_;
  std::vector<Queue> queues_;
  std::vector<Entry> entries_;
  sched::Digest digest_;
};

/// Queues may be filled in any order.
class QueueProgramBuilder {
 public:
  /// `ranks` in 1 … 2^24.
  explicit QueueProgramBuilder(std::uint32_t ranks) { program_.ranks_ = ranks; }
  /// Begins with all that `program` has, to change it.
  explicit QueueProgramBuilder(const QueueProgram& program);

  void set_schedule(sched::Digest digest) { program_.schedule_ = digest; }
  void set_title(std::string title) { program_.title_ = std::move(title); }
  void set_mode(Mode mode) { program_.mode_ = mode; }
  void set_readiness(Readiness readiness, std::uint32_t window = 0) {
    program_.readiness_ = readiness;
    program_.window_ = window;
  }
  sched::BufferId add_buffer(sched::RankId rank, std::uint64_t bytes);
  sched::SliceRange add_slices(std::span<const sched::Slice> slices);
  CqId add_cq(const CompletionQueue& cq);
  /// `first` and `count` are the builder's.
  QueueId add_queue(const Queue& queue);
  void add(QueueId queue, const Entry& entry) { entries_[queue.value].push_back(entry); }

  std::vector<CompletionQueue>& cqs() { return program_.cqs_; }
  std::vector<Queue>& queues() { return program_.queues_; }
  Queue& queue(QueueId id) { return program_.queues_[id.value]; }
  std::vector<Entry>& entries(QueueId id) { return entries_[id.value]; }

  /// Makes the value and leaves the builder empty. Throws InputError, naming the queue and entry,
  /// on what does not fit the tables: indices out of range, things of two ranks, entries that their
  /// queue cannot hold, counts before the start, pieces past their buffer. Whether the program is
  /// sound is check_queues()'s to say.
  QueueProgram build();

 private:
  QueueProgram program_;
  std::vector<std::vector<Entry>> entries_;
};

/// How people are told of it: "queue 7 (data send, rank 2)".
std::string describe(const QueueProgram& program, QueueId queue);
/// "entry 3 (wait) of queue 7 (data send, rank 2)".
std::string describe(const QueueProgram& program, QueueId queue, std::uint32_t entry);

/// The names of the text form: "sq-wait", "handshake", "send", "data", "wait", …
std::string_view name(Mode mode);
std::string_view name(Readiness readiness);
std::string_view name(QueueKind kind);
std::string_view name(Purpose purpose);
std::string_view name(EntryKind kind);

}  // namespace slackline::offload
