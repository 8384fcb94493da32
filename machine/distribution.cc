#include "machine/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace slackline::machine {
namespace {

using sched::Time;

constexpr std::int64_t kLongest = sched::kForever.count() - 1;

// To the nearest picosecond, halves upwards.
Time rounded(double picoseconds) {
  if (!(picoseconds < static_cast<double>(kLongest))) {
    throw InputError(
        fmt::format("a random time of {:.3g} s was drawn; expected a distribution whose draws stay "
                    "below 106 days",
                    picoseconds * 1e-12));
  }
  return Time{static_cast<std::int64_t>(std::floor(picoseconds + 0.5))};
}

double picoseconds(Time time) { return static_cast<double>(time.count()); }

void check_time(Time time, std::string_view of, const std::string& what) {
  if (time.count() >= 0 && time.count() <= kLongest) return;
  throw InputError(
      fmt::format("{}: a {} of {} ps; expected at least 0, and an end", what, of, time.count()));
}

}  // namespace

Time Distribution::draw(std::uint64_t seed, std::uint32_t rank, std::uint64_t site,
                        std::uint64_t index) const {
  const DrawKey key{seed, rank, site, index};
  switch (kind) {
    case Kind::kConstant:
      return low;
    case Kind::kUniform: {
      // Every picosecond from low to high has its part of [0, 1).
      const auto span = static_cast<std::uint64_t>(high.count() - low.count());
      const auto above =
          static_cast<std::uint64_t>(draw_uniform(key) * (static_cast<double>(span) + 1));
      return low + Time{static_cast<std::int64_t>(std::min(above, span))};
    }
    case Kind::kExponential:
      return rounded(-portable_log(1 - draw_uniform(key)) * picoseconds(mean));
    case Kind::kLognormal: {
      if (median.count() == 0) return Time{0};
      // In (0, 1), both ends excluded.
      const double p = (static_cast<double>(draw_bits(key) >> 12) + 0.5) * 0x1p-52;
      return rounded(portable_exp(sigma * normal_quantile(p)) * picoseconds(median));
    }
    case Kind::kTrace: {
      const std::uint64_t first = draw_below({seed, rank, site, 0}, values.size());
      return values[(first + index % values.size()) % values.size()];
    }
  }
  throw InternalError("a distribution of no kind");
}

void validate(const Distribution& distribution, const std::string& what) {
  using Kind = Distribution::Kind;
  switch (distribution.kind) {
    case Kind::kConstant:
      check_time(distribution.low, "time", what);
      return;
    case Kind::kUniform:
      check_time(distribution.low, "low", what);
      check_time(distribution.high, "high", what);
      if (distribution.low <= distribution.high) return;
      throw InputError(fmt::format("{}: low is {} and high is {}; expected low at most high", what,
                                   sched::format_time(distribution.low),
                                   sched::format_time(distribution.high)));
    case Kind::kExponential:
      check_time(distribution.mean, "mean", what);
      return;
    case Kind::kLognormal:
      check_time(distribution.median, "median", what);
      if (std::isfinite(distribution.sigma) && distribution.sigma >= 0) return;
      throw InputError(fmt::format("{}: a sigma of {}; expected a finite number of at least 0",
                                   what, distribution.sigma));
    case Kind::kTrace:
      if (distribution.values.empty() || distribution.values.size() > kMaxTraceValues) {
        throw InputError(fmt::format("{}: a trace of {} times; expected 1 to {}", what,
                                     distribution.values.size(), kMaxTraceValues));
      }
      for (const Time value : distribution.values) check_time(value, "value", what);
      return;
  }
  throw InternalError("a distribution of no kind");
}

}  // namespace slackline::machine
