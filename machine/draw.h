// Random draws as pure functions of (seed, rank, site, attempt): no state, so that the same seed
// gives the same run whatever the order, the threads or the machine. The functions below use no
// mathematics library, whose last bits differ between machines.
#pragma once

#include <cstdint>

#include "sched/ids.h"

namespace slackline::machine {

/// Where a draw is made. `site` is what the caller numbers: an operation, an arrival, a choice.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint32_t rank = 0;
  std::uint64_t site = 0;
  std::uint32_t attempt = 0;
};

/// 64 bits, each as good as any other.
std::uint64_t draw_bits(const DrawKey& key);

/// In [0, 1), a multiple of 2^-53.
double draw_uniform(const DrawKey& key);

/// In 0 … bound − 1, without bias worth mention (2^-32); bound ≥ 1.
std::uint64_t draw_below(const DrawKey& key, std::uint64_t bound);

/// The standard normal's quantile at `p`, in (0, 1), to a relative 1e-15.
double normal_quantile(double p);

/// log and exp to a relative 1e-15, the same bits on every machine. log of a positive number.
double portable_log(double x);
double portable_exp(double x);

}  // namespace slackline::machine
