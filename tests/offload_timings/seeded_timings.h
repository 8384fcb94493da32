// Many seeded timings of a queue program at once.
//
// Nothing in a sound program depends on who is faster, but when things happen (timing_graph.h): so
// a timing is no more than a length for each event, and timings are followed along the graph
// sixteen at a time. emulate.h follows bytes and counters, one timing at a time; with the same
// lengths both come to the same times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "offload/message_graph.h"
#include "offload/queue_program.h"
#include "sched/schedule.h"
#include "tests/offload_timings/timing_graph.h"

namespace slackline::offload {

/// How lengths are drawn, by seed modulo 4. A length is 2^x · m with m in [1, 2) and whole x.
enum class Lengths : std::uint8_t {
  kNear,   // x in 0 … 3
  kFar,    // x in 0 … 15: few take longer than all others together
  kQueue,  // x in 0 … 3; of some queues' entries, ways or acknowledgements 4096 times as long
  kStarve  // x in 0 … 7; of one rank, as drawn, 512 times as long
};

class SeededTimings {
 public:
  /// Throws InputError, naming the queue, where there is no such graph: what check_queues() calls
  /// `producer`, and a queue that several others enable. `program` must outlive this.
  SeededTimings(const QueueProgram& program, const sched::Schedule& schedule,
                const MessageGraph& graph);

  /// Entries, messages and acknowledgements that one timing goes through.
  std::size_t events() const { return graph_.events.size(); }
  /// Whether every queue comes to its end: always or never.
  bool ends() const { return graph_.ends; }

  /// Of the seeds first … first + count − 1, the first whose timing sends a message before its rank
  /// holds it, or before its receive is posted (unless the program goes without readiness; a
  /// handshake may find its host not started). `ends()` must hold.
  std::optional<std::uint64_t> first_unsound(std::uint64_t first, std::uint64_t count);

  /// One timing in full, by the entry's place in the program's table. For those who check this.
  struct Course {
    std::vector<float> start;         // by rank: when its host has posted everything
    std::vector<float> entry_takes;   // once it is first in its queue and nothing holds it back
    std::vector<float> entry_end;     // when it is carried out; a message then leaves
    std::vector<float> way_takes;     // once it has left and the one before it has landed
    std::vector<float> landed;        // of messages and of receives
    std::vector<float> back_takes;    // once it has landed and the one before is acknowledged
    std::vector<float> acknowledged;  // of messages
  };
  Course course(std::uint64_t seed);

 private:
  void draw_factors(std::uint64_t first);
  void follow(std::uint64_t first, bool record);

  const QueueProgram& program_;
  const TimingGraph graph_;
  // Sixteen numbers each:
  std::vector<float> ends_at_;  // by event
  std::vector<float> takes_;    // likewise, for course()
  std::vector<float> factors_;  // by TimingGraph::Event::factor
};

}  // namespace slackline::offload
