// Multicast patterns by name. A pattern is one function from its options to a Plan, or to a
// Schedule where blocks and steps do not say what it does; in a file pair of its own, registered by
// one line in pattern.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sched/pass/lower_credits.h"
#include "sched/pattern/component_access.h"
#include "sched/pattern/irregular_options.h"
#include "sched/pattern/step_source.h"
#include "sched/pattern/structure_options.h"
#include "sched/plan.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// More transfers than this are refused: two operations each make 2^31.
inline constexpr std::uint64_t kMaxTransfers = 1ull << 30;

/// What every multicast pattern is told.
struct MulticastOptions {
  std::uint32_t ranks = 1;        // ≥ 1
  std::uint64_t bytes = 0;        // of the message, ≥ 0
  std::uint64_t block_bytes = 1;  // ≥ 1
  RankId root{0};
  /// hybrid: the rack of every rank, racks numbered from 0 without gaps; if empty, ⌈√ranks⌉
  /// contiguous racks. Not read by other patterns.
  std::vector<std::uint32_t> rack_of_rank;

  /// max(1, ⌈bytes / block_bytes⌉). Throws InputError above 2^31 blocks.
  std::uint32_t blocks() const;
};

/// The steps are as published or as derived in the pattern's own header; k stands for blocks, n for
/// ranks. One rank alone has no steps. In every pattern
///  - a transfer's block reached its source at an earlier step, or the source is the root;
///  - every other rank receives every block exactly once, unless Plan::delivers_twice;
///  - a rank sends at most one block and receives at most one per step;
///  - the last transfer is in the last step.
/// Throws InputError for options out of their range, and above kMaxTransfers.
using MulticastPattern = Plan (*)(const MulticastOptions&);

struct PatternEntry {
  std::string_view name;
  std::string_view summary;  // one line, for `list patterns`
  MulticastPattern make;
  bool takes_racks = false;  // reads rack_of_rank
  /// The same transfers step by step, in memory for the ranks alone; null if there is no such form.
  /// Not bounded by kMaxTransfers.
  std::unique_ptr<StepSource> (*make_steps)(const MulticastOptions&) = nullptr;
};

/// Every pattern, in the order `list patterns` shows them.
std::span<const PatternEntry> patterns();

/// Nothing if there is no such pattern.
const PatternEntry* find_pattern(std::string_view name);

/// The pattern's steps: in their own form, or else from its Plan. Throws InputError as either does.
std::unique_ptr<StepSource> steps_of(const PatternEntry& pattern, const MulticastOptions& options);

/// What collectives are told beside.
struct CollectiveOptions {
  std::string by = "circulant";            // the multicast that they are made of
  std::uint64_t block_bytes = 1ull << 20;  // ≥ 1
  std::uint32_t in_flight = 1;             // messages a rank has under way at once; 0: no bound
  CreditOptions credits;
};

/// How a call's record travels: by messages, or by one-sided writes.
enum class CallVia : std::uint8_t { kSend, kWrite };
/// What a caller is notified of: that its call is transmitted, or that the target has run it.
enum class CallNotify : std::uint8_t { kTransmit, kConsume };

/// What remote invocations are told beside (sched/pattern/call.h).
struct CallOptions {
  CallVia via = CallVia::kWrite;
  CallNotify notify = CallNotify::kTransmit;
  Time handler{0};                          // how long each call runs; ≥ 0
  std::uint64_t chunk_bytes = 16ull << 20;  // of a receive buffer: eight pages of 2 MiB
  std::uint32_t chunks = 2;                 // obtained at a time (Seriema's c), ≥ 1
  std::uint32_t chunk_limit = 16;           // of one channel (c_max), ≥ 1
  std::uint32_t signal = 64;           // every so many posts one is waited for (u_max); 0: none
  Bundle aggregation = Bundle::kNone;  // of records
  std::uint64_t flush_bytes = 4096;    // aggregated: sent when it is as much
};

/// What a pattern is told that makes the schedule of a series of messages itself.
struct SeriesOptions {
  std::string title;        // what made it, for people
  std::uint32_t ranks = 1;  // ≥ 1
  std::uint64_t bytes = 0;  // of each message, ≥ 0
  RankId root{0};
  std::uint32_t messages = 1;  // ≥ 1
  std::uint32_t slots = 16;    // for messages at each receiver, ≥ 1
  bool copy_out = true;        // each message is copied out of its slot
  CollectiveOptions collective{};
  CallOptions call{};
  IrregularOptions irregular{};
  StructureOptions structure{};
  OneSidedOptions one_sided{};
};

using SeriesPattern = Schedule (*)(const SeriesOptions&);

/// How often a pattern's bytes cross the busiest link, whatever the algorithm: what bus bandwidth
/// counts (analysis/bus_bandwidth.h).
enum class BusUse : std::uint8_t {
  kNone,          // no such figure
  kOnce,          // a multicast, a reduce
  kAllToAll,      // what each has goes to all others: (n − 1) / n of what all have
  kThereAndBack,  // twice as much
};

struct SeriesEntry {
  std::string_view name;
  std::string_view summary;  // one line, for `list patterns`
  SeriesPattern make;
  std::uint64_t (*op_count)(const SeriesOptions&);  // about; never less
  std::span<const std::string_view> options;        // of a spec, that it takes
  bool multicast = false;                           // brings every message to every rank
  bool one_message = false;  // makes one; a series is composed of as many schedules
  BusUse bus = BusUse::kNone;
};

/// Every pattern of this kind; find_pattern() and patterns() have the others.
std::span<const SeriesEntry> series_patterns();

/// Nothing if there is no such pattern.
const SeriesEntry* find_series_pattern(std::string_view name);

/// Throws InputError for options out of their range.
void check(const MulticastOptions& options);

/// A Plan with everything but root, transfers and steps filled in from the options. Checks them,
/// before anything large is allocated: throws InputError.
Plan empty_plan(const MulticastOptions& options);

/// Patterns are written for root 0. Renames the ranks of such a plan by rank 0 ↔ options.root, so
/// that block flow is the same with two names exchanged, and restores the order of the transfers.
/// Takes time linear in the transfers where a rank sends at most one block per step.
Plan with_root(Plan plan, RankId root);

/// ⌊log2 value⌋ and ⌈log2 value⌉ for value ≥ 1.
std::uint32_t floor_log2(std::uint32_t value);
std::uint32_t ceil_log2(std::uint32_t value);

}  // namespace slackline::sched
