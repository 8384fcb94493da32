#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/in_threads.h"
#include "analysis/samples.h"
#include "analysis/stream.h"
#include "analysis/stream_noise.h"
#include "analysis/stream_pass.h"
#include "machine/draw.h"
#include "sched/pattern/pattern.h"

// One source, compiled for several instruction sets; the widest that the machine has is taken when
// the program starts. All compute the same, since no operation is fused or reordered. Sanitizers do
// not get along with such functions.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SLACKLINE_FOR_EVERY_MACHINE \
  __attribute__((flatten, target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define SLACKLINE_FOR_EVERY_MACHINE
#endif

namespace slackline::analysis {
namespace {

constexpr std::uint32_t kAtOnce = 8;

// Runs side by side, one per element.
struct EightRuns {
  using Real = double __attribute__((vector_size(64)));
  using Mask = std::int64_t __attribute__((vector_size(64)));
  using Bits = std::uint64_t __attribute__((vector_size(64)));
  static Mask below(const Real& a, const Real& b) { return a < b; }
  static Real pick(const Mask& mask, const Real& a, const Real& b) { return mask ? a : b; }
};
using Real = EightRuns::Real;
using Mask = EightRuns::Mask;
using Bits = EightRuns::Bits;

// Of whole numbers below 2^53, exactly: the halves beside 2^84 and 2^52, which are then taken away.
Real real_of(const Bits& whole) {
  constexpr double kHigh = 0x1p84;
  constexpr double kLow = 0x1p52;
  const Bits high = (whole >> 32) | __builtin_bit_cast(std::uint64_t, kHigh);
  const Bits low = (whole & 0xffffffffu) | __builtin_bit_cast(std::uint64_t, kLow);
  return (__builtin_bit_cast(Real, high) - (kHigh + kLow)) + __builtin_bit_cast(Real, low);
}

// Downwards to a whole number, of 0 ≤ x < 2^51.
Real whole_part(const Real& x) {
  const Real near = (x + 0x1p52) - 0x1p52;
  return near - (near > x ? Real{} + 1.0 : Real{});
}

class EightNoises {
 public:
  static constexpr bool kNone = false;

  EightNoises(const StreamDelays& delays, std::uint64_t first_seed) : delays_(delays) {
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      seeds_[i] = first_seed + i;
      seed_terms_[i] = seeds_[i] * machine::kSeedFactor;
    }
  }

  void draw(std::uint32_t rank, std::uint32_t index, Hold hold, Real& lane_s, Real& post_s,
            Mask& inexact) const {
    Real lane_ps = Real{} + delays_.straggle_ps(rank, hold);
    Real post_ps{};
    for (const StreamDelays::Strike& strike : delays_.strikes(rank)) {
      Real length_ps = length(strike, rank, index);
      if (strike.noise->chance.value < kAlways) {
        // draw_below(kAlways) < chance, without its division of each draw.
        const auto bound = static_cast<std::uint64_t>(
            ((static_cast<unsigned __int128>(strike.noise->chance.value) << 64) + kAlways - 1) /
            kAlways);
        const Bits drawn = bits(strike.chance_stream, index);
        length_ps = drawn < bound ? length_ps : Real{};
      }
      (strike.noise->whole_lane ? lane_ps : post_ps) += length_ps;
    }
    inexact |= (lane_ps >= kMostPicoseconds) | (post_ps >= kMostPicoseconds);
    lane_s = lane_ps * 1e-12;
    post_s = post_ps * 1e-12;
  }

 private:
  static constexpr std::uint32_t kAlways = 1'000'000;

  Bits bits(std::uint64_t stream, std::uint32_t index) const {
    Bits x = seed_terms_ + (stream + index * machine::kAttemptFactor);
    x = (x ^ x >> 27) * 0x3c79ac492ba7b653u;
    x = (x ^ x >> 33) * 0x1c69b3f74ac4ae35u;
    return x ^ x >> 27;
  }

  Real length(const StreamDelays::Strike& strike, std::uint32_t rank, std::uint32_t index) const {
    const machine::Distribution& of = strike.noise->of;
    using Kind = machine::Distribution::Kind;
    if (of.kind == Kind::kConstant) return Real{} + static_cast<double>(of.low.count());
    const auto span = static_cast<double>(of.high.count() - of.low.count());
    if (of.kind == Kind::kUniform && span < 0x1p50) {
      const Real uniform = real_of(bits(strike.length_stream, index) >> 11) * 0x1p-53;
      const Real above = whole_part(uniform * (span + 1));
      return (above > span ? Real{} + span : above) + static_cast<double>(of.low.count());
    }
    Real lengths{};
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      lengths[i] = static_cast<double>(of.draw(seeds_[i], rank, 2 * strike.place, index).count());
    }
    return lengths;
  }

  const StreamDelays& delays_;
  Bits seeds_{};
  Bits seed_terms_{};
};

SLACKLINE_FOR_EVERY_MACHINE
void run_eight(StreamPass<EightRuns, EightNoises>& pass) { pass.run(); }

}  // namespace

std::optional<StreamSamples> stream_samples(const sched::Spec& spec,
                                            const machine::Platform& platform,
                                            const machine::DelayPlan& plan,
                                            const machine::SampleRuns& runs) {
  const sched::PatternEntry* pattern = sched::find_pattern(spec.pattern);
  if (pattern != nullptr) check(spec.multicast);
  validate(plan, spec.multicast.ranks);
  if (why_not_streamed(spec, platform, plan)) return std::nullopt;
  const StreamFigures figures = stream_figures(spec, platform);
  const StreamDelays delays(plan, figures);
  StreamSamples result{machine::Samples(runs.samples, figures.ranks),
                       std::vector<char>(runs.samples, 0)};
  const std::uint32_t batches = (runs.samples + kAtOnce - 1) / kAtOnce;
  in_threads(
      batches, runs.jobs,
      [&](std::uint32_t batch) {
        const std::uint32_t first = batch * kAtOnce;
        const auto source = steps_of(*pattern, spec.multicast);
        const EightNoises noises(delays, plan.seed + first);
        StreamPass<EightRuns, EightNoises> pass(*source, figures, noises);
        run_eight(pass);
        for (std::uint32_t i = 0; i < std::min(kAtOnce, runs.samples - first); ++i) {
          result.exact[first + i] = pass.out_of_order()[i] == 0 ? 1 : 0;
          double& makespan_s = result.samples.makespan_s[first + i];
          for (std::uint32_t r = 0; r < figures.ranks; ++r) {
            const double finish_s = pass.finish_s(r)[i];
            result.samples.rank_finish_s[std::size_t{first + i} * figures.ranks + r] = finish_s;
            makespan_s = std::max(makespan_s, finish_s);
          }
        }
      },
      [&](std::uint32_t done) {
        if (runs.progress) runs.progress(std::min(done * kAtOnce, runs.samples));
      });
  return result;
}

void run_exactly(StreamSamples& streamed, const std::vector<std::uint32_t>& which,
                 const sched::Spec& spec, const machine::Platform& platform,
                 const machine::DelayPlan& delays, const machine::SampleRuns& runs) {
  if (which.empty()) return;
  const machine::Wiring wiring(platform, spec.multicast.ranks);
  run_analytic_samples(sched::compile(spec), platform, wiring, delays, {}, runs, which,
                       streamed.samples);
  for (const std::uint32_t sample : which) streamed.exact[sample] = 1;
}

}  // namespace slackline::analysis
