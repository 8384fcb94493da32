// One rank's part of a schedule, carried out on a transport by local knowledge alone: every
// operation counts the events it waits for, and is issued when all are there, the lowest number
// first (machine::IssuePolicy::kInOrder). Bytes are real: see hw/memory.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <vector>

#include "hw/memory.h"
#include "hw/program.h"
#include "hw/transport.h"
#include "sched/trace.h"

namespace slackline::hw {

/// What a rank tells all others before the run, carried by somebody else.
struct Greeting {
  Address address;
  RemoteMemory memory;
};

/// The order of calls: construct; exchange greetings among all ranks; connect(); begin();
/// progress() until finished(), and on until all ranks are, since peers may need this one's
/// progress.
///
/// A reduce adds bytes, modulo 256. Atomics act on words in this machine's byte order.
class Executor {
 public:
  /// Allocates, fills and registers the rank's memory and opens its channels. Throws as
  /// RankProgram, RankMemory and the transport do. Schedule and transport must outlive this.
  Executor(const sched::Schedule& schedule, sched::RankId rank, Transport& transport);

  const Greeting& greeting() const { return greeting_; }
  /// `greetings` by rank.
  void connect(std::span<const Greeting> greetings);

  /// Time zero of this rank's operations.
  void begin();

  /// One round: issue what is ready, see what has completed. Never waits. Answers whether anything
  /// happened. Throws InternalError if a message is not the one whose turn it is, and as the
  /// transport does.
  bool progress();

  bool finished() const { return left_ == 0; }
  /// The first operation that is not done, for messages about a run that came to nothing.
  sched::OpId first_unfinished() const;

  /// Whether the rank's bytes are those that the contract promises: nothing if so, else one line.
  std::optional<std::string> first_breach() { return memory_.first_breach(); }

  /// The times of the rank's operations, in their order; infinite where one never came. Of posted
  /// operations issued_s is when the transport had taken their last request.
  std::span<const sched::OpTimes> times() const { return times_; }
  /// The rank's memory, for tests.
  RankMemory& memory() { return memory_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Timer {
    Clock::time_point at;
    std::uint32_t op;
    // The earliest on top of a priority queue; among equals the lowest operation.
    friend bool operator<(const Timer& a, const Timer& b) {
      return a.at != b.at ? a.at > b.at : a.op > b.op;
    }
  };
  using Ready = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
  // Requests of one operation, waiting for room.
  struct Queued {
    WorkRequest request;
    std::uint32_t segment = 0;  // its first in segments_
    std::uint32_t segments = 0;
    bool last = false;  // of its operation
  };

  double now_s() const;
  void release(std::uint32_t op, std::uint32_t by);
  void issued(std::uint32_t op);
  void done(std::uint32_t op);

  bool issue_ready();
  void issue(std::uint32_t op);
  void queue_message(std::uint32_t op);
  void queue_one_sided(std::uint32_t op);
  void queue_atomic(std::uint32_t op);
  void queue(WorkRequest request, std::span<const Segment> segments, bool last);
  bool post_queued();
  bool see_completions();
  bool see_timers();
  bool see_flags();
  bool flag_is_there(std::uint32_t op);
  void copy(std::uint32_t op);
  void reduce(std::uint32_t op);

  Segment segment(const sched::Slice& slice);
  RemoteMemory remote(const sched::Slice& slice, std::uint64_t further) const;
  std::byte* result(std::uint32_t op);
  std::uint64_t value_of(const sched::Operand& operand);

  const sched::Schedule& schedule_;
  sched::RankId rank_;
  Transport& transport_;
  RankProgram program_;
  MemoryLayout layout_;
  std::uint32_t words_ = 0;                // of scratch, one for each atomic
  std::vector<std::uint32_t> word_of_op_;  // atomics: their word; counts words_
  RankMemory memory_;
  LocalMemory local_;
  Greeting greeting_;
  std::vector<RemoteMemory> remote_;  // by rank

  Clock::time_point start_;
  std::vector<sched::OpTimes> times_;
  std::vector<std::uint32_t> waits_;
  std::vector<std::uint32_t> requests_left_;
  std::uint32_t left_ = 0;
  std::vector<std::uint32_t> lane_of_op_;  // index into lanes_
  std::vector<Ready> lanes_;
  std::vector<bool> lane_busy_;  // with a calc
  std::priority_queue<Timer> timers_;
  std::vector<std::uint32_t> polls_;
  std::vector<Queued> queued_;  // those before next_ are posted
  std::size_t next_ = 0;
  std::vector<Segment> segments_;
  std::vector<WorkRequest> batch_;
};

/// The trace of a run, from the times of every rank (empty for ranks that told none). `engine` is
/// "run:" and the transport's name.
sched::Trace assemble_trace(const sched::Schedule& schedule, std::string_view transport,
                            std::span<const std::vector<sched::OpTimes>> times);

}  // namespace slackline::hw
