#include "machine/draw.h"

#include <cmath>
#include <limits>

namespace slackline::machine {
namespace {

// ln 2 in two pieces: the first has 33 bits, so that its product with an exponent is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kInvLn2 = 1.44269504088896340736;
constexpr double kSqrtHalf = 0.70710678118654752440;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Σ coefficients[i] · x^i.
template <int n>
double polynomial(const double (&coefficients)[n], double x) {
  double sum = coefficients[n - 1];
  for (int i = n - 2; i >= 0; --i) sum = sum * x + coefficients[i];
  return sum;
}

}  // namespace

std::uint64_t draw_stream(std::uint32_t rank, std::uint64_t site) {
  // Zero is the one value that mix_bits keeps.
  return mix_bits(mix_bits(rank + kSeedFactor) + site);
}

std::uint64_t draw_bits(const DrawKey& key) {
  return draw_bits(draw_stream(key.rank, key.site), key.seed, key.attempt);
}

double draw_uniform(const DrawKey& key) { return uniform_of(draw_bits(key)); }

std::uint64_t draw_below(const DrawKey& key, std::uint64_t bound) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(draw_bits(key)) * bound >> 64);
}

// x = m · 2^e with m near 1, and log m = 2 artanh s with s = (m − 1) / (m + 1) in ±0.172.
double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < kSqrtHalf) {
    m *= 2;
    --exponent;
  }
  constexpr double kArtanh[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21};
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  const double log_m = 2 * s + 2 * s * (square * polynomial(kArtanh, square));
  return exponent * kLn2High + (log_m + exponent * kLn2Low);
}

// x = k · ln 2 + r with r in ±0.347, and exp r by its series.
double portable_exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 710) return kInfinity;
  if (x < -746) return 0;
  constexpr double kInverseFactorials[] = {
      1.0 / 2,         1.0 / 6,          1.0 / 24,           1.0 / 120,
      1.0 / 720,       1.0 / 5'040,      1.0 / 40'320,       1.0 / 362'880,
      1.0 / 3'628'800, 1.0 / 39'916'800, 1.0 / 479'001'600., 1.0 / 6'227'020'800.};
  const double k = std::floor(x * kInvLn2 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  const double exp_r = 1 + (r + r * r * polynomial(kInverseFactorials, r));
  return std::ldexp(exp_r, static_cast<int>(k));
}

// Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", 1988: PPND16.
double normal_quantile(double p) {
  constexpr double kCentreOver[] = {
      3.387132872796366608,  133.14166789178437745, 1971.5909503065514427, 13731.693765509461125,
      45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727};
  constexpr double kCentreUnder[] = {1.0,
                                     42.313330701600911252,
                                     687.1870074920579083,
                                     5394.1960214247511077,
                                     21213.794301586595867,
                                     39307.89580009271061,
                                     28729.085735721942674,
                                     5226.495278852854561};
  constexpr double kMiddleOver[] = {1.42343711074968357734,   4.6303378461565452959,
                                    5.7694972214606914055,    3.64784832476320460504,
                                    1.27045825245236838258,   0.24178072517745061177,
                                    0.0227238449892691845833, 7.7454501427834140764e-4};
  constexpr double kMiddleUnder[] = {1.0,
                                     2.05319162663775882187,
                                     1.6763848301838038494,
                                     0.68976733498510000455,
                                     0.14810397642748007459,
                                     0.0151986665636164571966,
                                     5.475938084995344946e-4,
                                     1.05075007164441684324e-9};
  constexpr double kTailOver[] = {6.6579046435011037772,     5.4637849111641143699,
                                  1.7848265399172913358,     0.29656057182850489123,
                                  0.026532189526576123093,   0.0012426609473880784386,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr double kTailUnder[] = {1.0,
                                   0.59983220655588793769,
                                   0.13692988092273580531,
                                   0.0148753612908506148525,
                                   7.868691311456132591e-4,
                                   1.8463183175100546818e-5,
                                   1.4215117583164458887e-7,
                                   2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kCentreOver, r) / polynomial(kCentreUnder, r);
  }
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p));
  const double size = r <= 5 ? polynomial(kMiddleOver, r - 1.6) / polynomial(kMiddleUnder, r - 1.6)
                             : polynomial(kTailOver, r - 5) / polynomial(kTailUnder, r - 5);
  return q < 0 ? -size : size;
}

}  // namespace slackline::machine
