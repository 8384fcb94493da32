// Distributions of times, for noise and for arrivals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "machine/draw.h"

namespace slackline::machine {

/// The most values of a trace, so that a delay plan that holds them can be read back.
inline constexpr std::size_t kMaxTraceValues = std::size_t{1} << 19;

struct Distribution {
  enum class Kind : std::uint8_t { kConstant, kUniform, kExponential, kLognormal, kTrace };
  Kind kind = Kind::kConstant;
  sched::Time low{0};     // constant: the value; uniform: from
  sched::Time high{0};    // uniform: to, ≥ low and itself among the values
  sched::Time mean{0};    // exponential
  sched::Time median{0};  // lognormal
  double sigma = 0;       // lognormal: of the logarithm, ≥ 0
  /// trace: values that are replayed in order, again and again, each rank from a place of its own.
  std::vector<sched::Time> values;

  /// The `index`-th time that `rank` draws at `site` with `seed`: ≥ 0, in whole picoseconds, and
  /// never kForever: throws InputError for a draw that is as long. Of a valid distribution only.
  sched::Time draw(std::uint64_t seed, std::uint32_t rank, std::uint64_t site,
                   std::uint64_t index) const;

  friend bool operator==(const Distribution&, const Distribution&) = default;
};

/// Throws InputError, naming `what`, for parameters that no distribution has: a time below 0 or
/// kForever, low > high, sigma below 0 or not finite, a trace without values or with more than
/// kMaxTraceValues.
void validate(const Distribution& distribution, const std::string& what);

}  // namespace slackline::machine
