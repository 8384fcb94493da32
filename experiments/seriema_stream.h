// What Seriema's micro-benchmarks measure: one thread's steady stream of small messages to one
// other.
#pragma once

#include <cstdint>
#include <string_view>

#include "machine/platform.h"

namespace slackline::experiments {

/// When the completions of plain writes are asked for, and seen.
enum class Signalling : std::uint8_t {
  kAll,        // of each: a look at the completion queue after every post
  kByHand,     // of every u_max-th, looked for when the next one is due
  kAutomatic,  // of every u_max-th, which the next post waits for (Seriema, section 4.1)
};

/// Plain one-sided writes of `bytes` without records: messages a second. Seeing a completion costs
/// the platform's poll_cost. `messages`, `u_max` ≥ 1.
double writes_per_s(const machine::Platform& platform, std::uint64_t bytes, std::uint32_t messages,
                    std::uint32_t u_max, Signalling signalling);

/// Calls with `bytes` of arguments: calls a second, the last one's handler included. `options`:
/// of the spec, such as "aggregation=trad".
double calls_per_s(const machine::Platform& platform, std::uint64_t bytes, std::uint32_t messages,
                   std::uint32_t u_max, std::string_view options);

}  // namespace slackline::experiments
