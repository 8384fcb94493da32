// Races: which operation touched each segment last, and whether the next one certainly comes after.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "sched/schedule.h"
#include "sched/verify/access.h"
#include "sched/verify/findings.h"
#include "sched/verify/intervals.h"
#include "sched/verify/order.h"
#include "sched/verify/read_log.h"
#include "sched/verify/segments.h"

namespace slackline::sched {

/// Takes the operations in an order in which they can be issued, and proves each access to come
/// after the accesses it conflicts with: a path from the release of the earlier to the issue of the
/// later. Of each segment it keeps the last write, the reads since, and one generation before; that
/// is enough, since a path to these continues a path to all that came before them. (FastTrack finds
/// races in threads by the same argument, and has clocks where we search for paths: Flanagan and
/// Freund, "FastTrack: efficient and precise dynamic race detection", PLDI 2009. One run of theirs
/// speaks of that run alone; a path of arcs holds in every run.)
///
/// Where slices overlap much, neighbouring segments with the same writes are one interval, and
/// reads stand in a log; words of atomics, which are few, stay segments with lists. What is
/// reported is the same, of the same segments and in the same order.
///
/// Two accesses are excepted. A poll watches the flag that its put writes, so these two need no
/// order between them. Atomics on one word are serialised by its NIC.
class ConflictChecker {
 public:
  /// `joins`: keeps neighbouring segments as one.
  ConflictChecker(const Schedule& schedule, const SegmentTable& segments, bool joins,
                  OrderProver& prover, Findings& findings);

  /// Reports `raw`, `war` or `waw`; an operation's reads come before its writes.
  void access(OpId op, SegmentRun run, Access kind);

  /// Reports `raw` unless done(producer) comes before issued(op), whose operand it is.
  void check_operand(OpId op, OpId producer);

  /// Some two accesses are not ordered.
  bool found_races() const { return !reported_.empty(); }

  /// The last write to a segment; none() if there is none.
  OpId last_writer(std::uint32_t segment) const;

 private:
  static constexpr std::uint32_t kEnd = 0xffffffffu;
  // Lists of operations that are not ordered among themselves, newest first.
  struct Node {
    OpId op;
    std::uint32_t next;
  };
  struct Cell {
    std::uint32_t writes = kEnd;  // one write, or atomics on one word
    std::uint32_t reads = kEnd;   // since
    std::uint32_t prior_writes = kEnd;
    std::uint32_t prior_reads = kEnd;  // between prior_writes and writes
  };
  struct Later {  // the access under way
    OpId op;
    std::uint32_t segment;
    Access kind;
    bool long_run;  // of several segments
  };

  // A read since the last write to an interval, from the first of its segments that it reads.
  struct Reader {
    std::uint32_t first;
    std::uint32_t last;
    std::uint32_t time;
  };
  // What is to be checked at a segment, in this order.
  enum class Stage : std::uint8_t { kOwnOverlap, kRead, kWrites };
  struct Step {
    std::uint32_t segment;
    Stage stage;
    OpId reader;
  };

  // The time of a node: 0 is before all.
  static std::uint32_t time_of(std::uint32_t node) { return node == kEnd ? 0 : node + 1; }

  std::uint32_t push(OpId op, std::uint32_t next);
  void access_segment(const Later& later);
  bool after_all(std::uint32_t list, bool wrote, const Later& later);
  void comes_after(OpId first, bool wrote, const Later& later);
  bool joins(const Cell& cell, OpId op) const;
  bool excepted(OpId first, bool wrote, const Later& later) const;
  EventId release(OpId op, bool wrote) const;
  bool after_read(OpId first, const Later& later);
  void report_own_overlap(bool writes, const Later& later);
  void check_own_overlap(const Cell& cell, const Later& later);
  bool stays_in_place(const Later& later) const;

  // The same for intervals.
  void access_joined(OpId op, SegmentRun run, Access kind);
  void read_joined(OpId op, SegmentRun run);
  void write_joined(OpId op, SegmentRun run);
  void check_write(OpId op, SegmentRun part, const Cell& cell);
  void find_readers(SegmentRun part, const Cell& cell);
  std::uint32_t first_unread(SegmentRun part) const;
  std::uint32_t first_moved(OpId op, SegmentRun part) const;
  void cut(std::uint32_t segment);

  const Schedule& schedule_;
  const SegmentTable& segments_;
  OrderProver& prover_;
  Findings& findings_;
  Intervals intervals_;
  std::optional<BitIndex> words_;  // segments of words of atomics, where intervals are joined
  std::optional<ReadLog> log_;     // where intervals are joined, and there was a read
  std::vector<Cell> cells_;        // by segment; by the first of an interval
  std::vector<Node> nodes_;
  // By operation: the last operation with a long run that was proven to come after its done. Such
  // a one asks the same over and over, and whatever waits for it asks what it has asked.
  std::vector<OpId> proven_after_;
  std::set<std::tuple<OpId, OpId, Code>> reported_;  // each pair once
  std::vector<Reader> readers_;                      // of the interval under way
  std::vector<Step> steps_;
  std::vector<SegmentRun> read_by_itself_;
};

}  // namespace slackline::sched
