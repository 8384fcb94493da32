// What a real run is told, and what it gives.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hw/processor_use.h"
#include "machine/delay_plan.h"
#include "machine/issue_policy.h"
#include "machine/platform.h"
#include "sched/schedule.h"
#include "sched/trace.h"

namespace slackline::hw {

/// How a rank that has nothing to do waits for its next completion.
enum class Waiting : std::uint8_t {
  kPolling,    // never sleeps; yields its core, since cores may be fewer than ranks
  kInterrupt,  // sleeps at once
  kHybrid,     // polls until `poll_for` after the last completion, then sleeps (RDMC, section 4.2)
};
std::string_view name(Waiting waiting);
std::optional<Waiting> waiting_named(std::string_view text);

/// The longest RunOptions::duration. Ranks meet before each iteration, a millisecond ahead of it,
/// so that it has 600,000 iterations at most.
inline constexpr std::chrono::minutes kLongestDuration{10};

/// An iteration that is through, as far as is known at once.
struct IterationEnd {
  bool counts = true;  // it is none of the warm-up
  /// By the clocks as they were compared before; RunResult has it by how they went on.
  double makespan_s = 0;
  double late_start_s = 0;  // of this iteration, as RunResult has it of all
};

/// How often and for how long, warm-up included, is what rank 0 was told; the others go by it.
struct RunOptions {
  std::uint32_t iterations = 1;  // ≥ 1
  std::uint32_t warm_up = 1;     // before those; in the first, transports connect. Together < 2^32
  /// Not 0: as many iterations as it takes, and not `iterations`. The last is the first that begins
  /// when so much time has passed since the end of the warm-up, by rank 0's clock. At most
  /// kLongestDuration.
  std::chrono::milliseconds duration{0};
  /// Fill the memory before each iteration and prove it after. false: nobody looks at the bytes;
  /// filled is what regions, fetched words and addresses depend on (sched/kept_memory.h).
  bool prove = true;
  Waiting waiting = Waiting::kPolling;
  std::chrono::milliseconds poll_for{50};
  machine::IssueOrder order;
  machine::DelayPlan delays;
  /// What a straggler's lane times and sends_in_flight's large messages go by.
  machine::Platform platform;
  /// false: operations are not timed, which saves two readings of the clock for each. The trace has
  /// no times then.
  bool timestamps = true;
  /// How long a rank without anything to do waits for the others, beyond what the schedule and its
  /// delays take of themselves.
  std::chrono::milliseconds stall_timeout{30'000};
  /// How long the loss of a peer that the transport noticed may take to be confirmed by the mesh.
  std::chrono::milliseconds failure_timeout{2'000};
  /// Called about once a second while nothing happens at this rank and it hears of nothing, with
  /// what it waits for, how long it has waited, and after how long it will give up.
  std::function<void(const std::string& what, std::chrono::duration<double> waited,
                     std::chrono::duration<double> patience)>
      on_quiet;
  /// Called at this rank after each iteration. Nobody is timed meanwhile, but all wait.
  std::function<void(const IterationEnd&)> on_iteration;
};

/// Up to which a rank's times, on rank 0's clock, are right: more at some moments than at others.
class ClockErrors {
 public:
  /// From the end of the span before it to `until_s`.
  struct Span {
    double until_s = 0;
    double error_s = 0;
  };
  /// No error.
  ClockErrors() = default;
  /// By time, which no span's end lies before another's. After the last end it is the last's.
  explicit ClockErrors(std::vector<Span> spans) : spans_(std::move(spans)) {}

  double at(double time_s) const;
  std::span<const Span> spans() const { return spans_; }

 private:
  std::vector<Span> spans_;
};

/// Complete at rank 0. The other ranks know the makespans and the breach, too, and of the trace
/// their own operations.
struct RunResult {
  /// Of the iteration with the median makespan; times are from the common start, on rank 0's clock.
  /// Its engine is "run:NET". See Executor::times() for what they mean. Results and memory are as
  /// an engine's, so that they can be held against each other (sched/kept_memory.h).
  sched::Trace trace;
  /// By iteration: when the last operation of any rank was done.
  std::vector<double> makespans_s;
  /// Of the trace's iteration, by rank.
  std::vector<double> rank_finish_s;
  /// Which iteration that is, from 0.
  std::uint32_t traced_iteration = 0;
  /// Two times of different ranks are comparable up to this, in any iteration.
  double clock_error_s = 0;
  /// Of the trace's iteration, by rank; at rank 0 alone. A time of another rank is comparable with
  /// one of this up to the sum of both errors.
  std::vector<ClockErrors> clock_errors;
  /// The latest that a rank began an iteration after the common start: it was busy elsewhere. No
  /// more than the rank's finish, so that it is in the makespan.
  double late_start_s = 0;
  /// By rank, over the iterations that count, each from its start until all ranks were through.
  std::vector<ProcessorUse> processor;
  /// What the readings of the clock cost, per operation, of the rank where they cost most.
  double timestamp_overhead_s = 0;
  /// One reading, and how many there were in the trace's iteration.
  double clock_read_s = 0;
  std::uint64_t clock_reads = 0;
  /// The first byte that is not what the contract promises, in one line; nothing if all are, or
  /// nobody looked.
  std::optional<std::string> breach;

  double median_makespan_s() const;
};

/// A rank waited in vain: nothing came for RunOptions::stall_timeout, and nobody is lost.
class Stalled : public Error {
 public:
  explicit Stalled(const std::string& message) : Error(message, 1) {}
};

/// What a rank saw of its operations, in their order; empty of ranks that told nothing.
struct RankRecord {
  std::vector<sched::OpTimes> times;
  std::vector<std::uint64_t> results;  // empty, too, if none of them fetches anything
  std::vector<std::byte> memory;       // of its kept buffers, in their order: Trace::memory
};

/// The trace of a run, from the records of every rank. Its engine is "run:" and the transport's
/// name. Throws EnvironmentError for a record that is of another schedule.
sched::Trace assemble_trace(const sched::Schedule& schedule, std::string_view transport,
                            std::span<const RankRecord> records);

/// Called with the number of iterations that are through and that there are, warm-up included; of
/// RunOptions::duration, with the milliseconds that have passed since then and that it has.
using RunProgress = std::function<void(std::uint32_t done, std::uint32_t all)>;

/// Throws Unsupported, naming the entry, for what a delay plan asks of a network, since a real one
/// cannot be told to: pair rates, link rates and failures.
void require_applicable(const machine::DelayPlan& plan);

}  // namespace slackline::hw
