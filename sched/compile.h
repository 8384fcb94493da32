// From a pattern's name to a schedule: `binomial-pipeline:ranks=16,bytes=256MiB,block=1MiB`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sched/memory_limit.h"
#include "sched/pass/lower_credits.h"
#include "sched/pass/lower_transfers.h"
#include "sched/pattern/pattern.h"
#include "sched/schedule.h"

namespace slackline::sched {

/// Where a schedule would have more operations than this, credits and copies included, its spec is
/// refused.
inline constexpr std::uint64_t kMaxOps = 1ull << 31;

/// What holds steps apart.
enum class Order : std::uint8_t {
  kAsync,     // nothing: a rank goes on as soon as it can
  kLockstep,  // a barrier among all ranks
};

/// What a spec says, with every default filled in.
struct Spec {
  std::string pattern;
  MulticastOptions multicast;
  std::uint32_t messages = 1;    // one after the other; each of multicast.bytes
  std::uint32_t slots = 16;      // for messages or operands at each receiver
  bool copy_out = true;          // ring-buffer: each message is copied out of its slot
  std::string by = "circulant";  // collectives: the multicast that they are made of
  CallOptions call;              // remote invocations
  IrregularOptions irregular;    // random accesses, searches
  StructureOptions structure;    // data structures
  OneSidedOptions one_sided;     // one operation after the other, at random ranks
  Order order = Order::kAsync;
  TransferOptions transfers;
  CreditOptions credits;
  /// The file that multicast.rack_of_rank was read from; empty: racks are contiguous.
  std::string rack_map;
};

/// One option of a spec, for `list patterns` and for error messages.
struct SpecOption {
  std::string_view name;
  std::string_view values;
  std::string_view meaning;
};
/// In the order in which format_spec writes them.
std::span<const SpecOption> spec_options();

/// Whether `text` is meant as a spec and not as a file. With "the name" what stands before the
/// first colon, or all of it: it is if the name is a pattern's. If no file is called `text`, it
/// also is if the name has nothing but letters, digits, dashes and underscores, and there is a
/// colon or the name is within two typing errors of a pattern's. Then parse_spec names the unknown
/// pattern, where otherwise a missing file would be reported.
bool looks_like_spec(std::string_view text);

/// Reads `pattern:key=value,…` in any order of keys. Throws InputError on an unknown pattern or
/// key, a key given twice or not taken by the pattern, a value out of range, a rack map that cannot
/// be read, and above kMaxOps; nothing large is allocated before.
Spec parse_spec(std::string_view text);

/// The same without kMaxOps, for engines that make no schedule.
Spec parse_spec_of_any_size(std::string_view text);

/// About how many operations compile() makes of it: all but barriers, and the joins that some
/// options add, at most three a rank and message. Throws InputError where blocks() does.
std::uint64_t most_ops(const Spec& spec);

/// The canonical text: ranks and bytes, then what differs from its default, in one fixed order.
/// parse_spec reads it back to the same Spec. Racks that neither are contiguous nor come from a
/// file have no text; they are written as `rack-map=?`.
std::string format_spec(const Spec& spec);

/// Blocks of all messages together; nothing for patterns without blocks.
std::optional<std::uint64_t> block_count(const Spec& spec);

/// What a pattern without a Plan is told.
SeriesOptions series_options(const Spec& spec);

/// The Plan of one message, with format_spec as its title. Throws InputError as the pattern does,
/// and for patterns without a Plan.
Plan plan_of(const Spec& spec);

/// Plan, then the passes in their order: lower_transfers, lower_credits, add_barriers. A series of
/// messages is composed of as many schedules; on every rank each waits for the one before it.
/// Throws EnvironmentError, before the work, as require_memory() does.
Schedule compile(const Spec& spec, const MemoryLimit& memory = {});

/// Throws EnvironmentError if `memory` will not hold the schedule while it is made, proved and
/// written as text, by most_ops(): 300 bytes an operation (measured: 90 to 340), and 200 where the
/// pattern writes its own operations, whose bounds are up to three times what is made.
void require_memory(const Spec& spec, const MemoryLimit& memory);

}  // namespace slackline::sched
