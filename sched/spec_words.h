// What the reader and the writer of specs share: which options a pattern takes, and the words that
// stand for values.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "sched/compile.h"

namespace slackline::sched {

inline constexpr std::uint64_t kDefaultBlock = 1u << 20;

/// Of every pattern.
std::vector<std::string_view> pattern_names();

/// What of a pattern decides which options it takes.
struct PatternTraits {
  std::string_view name;
  const SeriesEntry* series = nullptr;
  bool takes_racks = false;

  bool takes(std::string_view key) const {
    return series == nullptr ||
           std::find(series->options.begin(), series->options.end(), key) != series->options.end();
  }
};
/// Nothing if there is no such pattern.
std::optional<PatternTraits> traits_of(std::string_view name);

bool is_taken(const PatternTraits& pattern, std::string_view key);
/// Throws InputError if the pattern does not take the option.
void require_taken(const PatternTraits& pattern, std::string_view key);

/// Of the option `by`.
std::string_view default_by(std::string_view pattern);

/// Data structures: `via` and `slots` mean something of their own.
bool is_structure(const PatternTraits& pattern);
bool is_one_sided(const PatternTraits& pattern);
/// Calls aggregate in their own way, under the names that irregular patterns have for theirs.
bool is_call(const PatternTraits& pattern);

/// A value and what it is called in specs.
template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};
inline constexpr std::array kLowerings = {Choice<Lowering>{"send", Lowering::kSend},
                                          Choice<Lowering>{"put", Lowering::kPut}};
inline constexpr std::array kFirstBlocks = {Choice<bool>{"direct", false},
                                            Choice<bool>{"copy", true}};
inline constexpr std::array kReadies = {Choice<Ready>{"send", Ready::kSend},
                                        Choice<Ready>{"write", Ready::kWrite},
                                        Choice<Ready>{"none", Ready::kNone}};
inline constexpr std::array kStarts = {Choice<Start>{"pairwise", Start::kPairwise},
                                       Choice<Start>{"all", Start::kAll}};
inline constexpr std::array kOrders = {Choice<Order>{"async", Order::kAsync},
                                       Choice<Order>{"lockstep", Order::kLockstep}};
inline constexpr std::array kConsumes = {Choice<bool>{"copy", true},
                                         Choice<bool>{"in-place", false}};
inline constexpr std::array kVias = {Choice<CallVia>{"write", CallVia::kWrite},
                                     Choice<CallVia>{"send", CallVia::kSend}};
inline constexpr std::array kNotifies = {Choice<CallNotify>{"transmit", CallNotify::kTransmit},
                                         Choice<CallNotify>{"consume", CallNotify::kConsume}};
inline constexpr std::array kAggregations = {Choice<Bundle>{"none", Bundle::kNone},
                                             Choice<Bundle>{"trad", Bundle::kTraditional},
                                             Choice<Bundle>{"ovfl", Bundle::kOverflow}};

template <class Value, std::size_t n>
std::string_view name_of(const std::array<Choice<Value>, n>& choices, Value value) {
  const auto found = std::find_if(choices.begin(), choices.end(),
                                  [&](const auto& choice) { return choice.value == value; });
  return found->name;
}

}  // namespace slackline::sched
