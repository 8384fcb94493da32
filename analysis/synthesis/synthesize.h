// The fastest schedule that seeded attempts find for a collective on a platform.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/synthesis/moved_collective.h"
#include "machine/platform.h"
#include "machine/wiring.h"
#include "sched/schedule.h"

namespace slackline::analysis {

/// Moves that somebody knows already, such as a named pattern's.
struct SynthesisStart {
  std::string name;
  std::uint64_t block_bytes = 1;
  CollectiveMoves moves;
  std::uint32_t shares = 0;  // of CollectiveTask
};

/// Exchanges tell all of a message again and again, which pays for small ones.
inline constexpr std::uint32_t kMostExchanged = 16;

struct SynthesisRequest {
  CollectiveTask task;                // block_bytes and shares are not read
  std::vector<std::uint64_t> blocks;  // sizes of units to try, ≥ 1
  /// Sizes of blocks of the whole message, ≥ 1: an allreduce is also made by exchanges of these
  /// (exchange.h), as many attempts of each. Sizes that make more than kMostExchanged blocks are
  /// left to `blocks`.
  std::vector<std::uint64_t> whole_blocks = {};
  std::vector<SynthesisStart> starts;  // tried beside what the greedy makes
  std::uint32_t attempts = 100;        // of the greedy, for each size; ≥ 1
  std::uint32_t improvements = 1000;   // changes tried on each of the best four
  std::uint64_t seed = 0;
  std::uint32_t jobs = 1;  // at a time; changes nothing
  /// Sizes and starts that make more moves are left out.
  std::uint64_t most_moves = 8192;
  /// Also search for the fewest steps (exact.h), by at most so many choices for each size of units.
  /// An allreduce is searched as SCCL makes it: its two halves, each by so many choices. If one of
  /// `whole_blocks` is the whole message, all allreduces of that are searched, too (exact_sums.h).
  std::optional<std::uint64_t> exact_nodes;
  /// Go on from the best of what was improved, by at most so many runs (descend.h); 0: do not.
  std::uint64_t descent_runs = 0;
};

/// What the search for the fewest steps has found for a size of units.
struct SynthesizedSteps {
  std::uint64_t block_bytes = 1;
  std::uint32_t steps = 0;
  std::uint32_t at_least = 0;  // no schedule in steps has fewer; below `steps`: that is not proven
  std::uint64_t nodes = 0;     // choices that were looked at
  /// 2: a reduce-scatter and then an allgather, whose steps and bounds are added. `at_least` is of
  /// such allreduces only. 1, of an allreduce: of the message as one block (exact_sums.h).
  std::uint32_t halves = 1;
  bool one_sum = false;   // `at_least` is of ranks that keep one sum each; others may need fewer
  double makespan_s = 0;  // of such a schedule, by the flow engine
};

/// What descend() made of the best.
struct SynthesizedDescent {
  double before_s = 0;     // the makespan that it began with
  std::uint32_t kept = 0;  // changes
  std::uint64_t runs = 0;  // of changed schedules
  bool at_end = false;     // nothing that it tries is faster; else the runs have ended it
};

struct Synthesized {
  sched::Schedule schedule;
  std::string start;  // what it was improved from: a start's name, or "greedy"
  std::uint64_t block_bytes = 1;
  double makespan_s = 0;         // by the flow engine
  double start_s = 0;            // before it was improved
  double greedy_s = 0;           // the best that the greedy made, before anything was improved
  std::uint32_t improved = 0;    // changes that were kept
  std::uint32_t attempts = 0;    // schedules that were simulated before
  std::uint32_t sizes_left = 0;  // sizes of units that make too many moves
  std::vector<SynthesizedSteps> exact = {};  // of each size that was searched, as they stood
  std::optional<SynthesizedDescent> descent = {};
};

/// Told what goes on, how much of it is done, and of how much.
using SynthesisProgress =
    std::function<void(std::string_view what, std::uint64_t done, std::uint64_t of)>;

/// Greedy attempts for each size of units, and the starts, each simulated by the flow engine; then
/// the best ones, of different makespans, are improved, and the best of these descends if that is
/// wanted. The title is `synthesized:…`, with what it
/// was made from. The same request gives the same schedule. It is not proved here. `wiring` has a
/// route between every two ranks. Throws InputError if every size makes too many moves, or all have
/// too many units for a search that is wanted; and what StepNetwork does.
Synthesized synthesize(const SynthesisRequest& request, const machine::Platform& platform,
                       const machine::Wiring& wiring, const SynthesisProgress& progress = {});

}  // namespace slackline::analysis
