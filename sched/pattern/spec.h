// From a pattern's name to what it is told: `binomial-pipeline:ranks=16,bytes=256MiB,block=1MiB`.
#pragma once

#include <any>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "sched/ids.h"
#include "sched/pass/lower_credits.h"
#include "sched/pass/lower_transfers.h"

namespace slackline::sched {

struct PatternEntry;

/// Where a schedule would have more operations than this, credits and copies included, its spec is
/// refused.
inline constexpr std::uint64_t kMaxOps = 1ull << 31;

/// The values of options that only some patterns have: structs that these patterns declare, each
/// known by its type.
class OwnOptions {
 public:
  /// Its defaults if nothing was set.
  template <class Struct>
  const Struct& get() const {
    for (const std::any& value : values_) {
      if (const auto* found = std::any_cast<Struct>(&value)) return *found;
    }
    static const Struct kDefaults{};
    return kDefaults;
  }
  template <class Struct>
  Struct& edit() {
    for (std::any& value : values_) {
      if (auto* found = std::any_cast<Struct>(&value)) return *found;
    }
    return values_.emplace_back().template emplace<Struct>();
  }

 private:
  std::vector<std::any> values_;
};

/// What every multicast pattern is told.
struct MulticastOptions {
  std::uint32_t ranks = 1;        // ≥ 1
  std::uint64_t bytes = 0;        // of the message, ≥ 0
  std::uint64_t block_bytes = 1;  // ≥ 1
  RankId root{0};
  /// hybrid: the rack of every rank, racks numbered from 0 without gaps; if empty, ⌈√ranks⌉
  /// contiguous racks. Not read by other patterns.
  std::vector<std::uint32_t> rack_of_rank{};
  OwnOptions own{};

  /// max(1, ⌈bytes / block_bytes⌉). Throws InputError above 2^31 blocks.
  std::uint32_t blocks() const;
};

/// What holds steps apart.
enum class Order : std::uint8_t {
  kAsync,     // nothing: a rank goes on as soon as it can
  kLockstep,  // a barrier among all ranks
};

/// What a spec says, with every default filled in. What a pattern does not take stands at its
/// default.
struct Spec {
  std::string pattern;
  MulticastOptions multicast{1, 0, 1u << 20, RankId(0)};
  std::uint32_t messages = 1;  // one after the other; each of multicast.bytes
  std::uint32_t slots = 16;    // for messages or operands at each receiver
  Time handler{0};             // how long each call runs; ≥ 0
  Order order = Order::kAsync;
  TransferOptions transfers;
  CreditOptions credits;
  std::uint32_t stripes = 1;  // parts of each message, on channels of their own: pass/stripe.h
  /// The file that multicast.rack_of_rank was read from; empty: racks are contiguous.
  std::string rack_map;

  /// The values of the pattern's own options.
  template <class Struct>
  const Struct& own() const {
    return multicast.own.get<Struct>();
  }
  template <class Struct>
  Struct& edit_own() {
    return multicast.own.edit<Struct>();
  }
};

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

/// The same of a pattern, which need not be registered: reads `key=value,…`.
Spec parse_options(const PatternEntry& pattern, std::string_view text);

/// About how many operations compile() makes of it: all but barriers, and the joins that some
/// options add, at most three a rank and message. Throws InputError where blocks() does, and if
/// there is no such pattern.
std::uint64_t most_ops(const Spec& spec);

/// The canonical text: what has to be given, then what differs from its default, in the order of
/// the pattern's options. parse_spec reads it back to the same Spec. Racks that neither are
/// contiguous nor come from a file have no text; they are written as `rack-map=?`. Throws
/// InputError if there is no such pattern.
std::string format_spec(const Spec& spec);

/// The same of a pattern, which need not be registered.
std::string format_spec(const PatternEntry& pattern, const Spec& spec);

/// Blocks of all messages together; nothing for patterns without blocks.
std::optional<std::uint64_t> block_count(const Spec& spec);

}  // namespace slackline::sched
