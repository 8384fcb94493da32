#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/stream.h"
#include "analysis/engines/stream_noise.h"
#include "analysis/engines/stream_pass.h"
#include "analysis/in_threads.h"
#include "machine/draw.h"
#include "sched/pattern/pattern.h"

// One source, compiled for several instruction sets; the widest that the machine has is taken when
// the program starts. All compute the same, since no operation is fused or reordered. Sanitizers do
// not get along with such functions, nor does clang with these attributes together.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SLACKLINE_FOR_EVERY_MACHINE \
  __attribute__((flatten, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SLACKLINE_FOR_EVERY_MACHINE
#endif

namespace slackline::analysis {
namespace {

constexpr std::uint32_t kAtOnce = 16;
constexpr std::uint32_t kAlways = 1'000'000;

// A whole number below 2^53, exactly: its halves beside 2^84 and 2^52, which are then taken away.
// Without a conversion, which not every instruction set has for vectors.
double real_of(std::uint64_t whole) {
  constexpr double kHigh = 0x1p84;
  constexpr double kLow = 0x1p52;
  const std::uint64_t high = (whole >> 32) | std::bit_cast<std::uint64_t>(kHigh);
  const std::uint64_t low = (whole & 0xffffffffu) | std::bit_cast<std::uint64_t>(kLow);
  return (std::bit_cast<double>(high) - (kHigh + kLow)) + std::bit_cast<double>(low);
}

// Downwards to a whole number, of 0 ≤ x < 2^51.
double whole_part(double x) {
  const double near = (x + 0x1p52) - 0x1p52;
  return near > x ? near - 1 : near;
}

// OneNoise for seeds that follow each other.
class Noises {
 public:
  static constexpr bool kNone = false;

  Noises(const StreamDelays& delays, std::uint64_t first_seed)
      : delays_(delays), first_seed_(first_seed) {
    SLACKLINE_SIDE_BY_SIDE
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      seed_terms_[i] = (first_seed + i) * machine::kSeedFactor;
    }
  }

  void draw(std::uint32_t rank, std::uint64_t index, Hold hold, double (&lane_s)[kAtOnce],
            double (&post_s)[kAtOnce], std::int64_t (&inexact)[kAtOnce]) const {
    const double straggle_ps = delays_.straggle_ps(rank, hold);
    SLACKLINE_SIDE_BY_SIDE
    for (std::uint32_t i = 0; i < kAtOnce; ++i) lane_s[i] = straggle_ps;
    SLACKLINE_SIDE_BY_SIDE
    for (std::uint32_t i = 0; i < kAtOnce; ++i) post_s[i] = 0;
    for (const StreamDelays::Strike& strike : delays_.strikes(rank)) {
      double lengths_ps[kAtOnce];
      draw_lengths(strike, rank, index, lengths_ps);
      if (strike.noise->chance.value < kAlways) draw_chances(strike, index, lengths_ps);
      double(&sums)[kAtOnce] = strike.noise->whole_lane ? lane_s : post_s;
      SLACKLINE_SIDE_BY_SIDE
      for (std::uint32_t i = 0; i < kAtOnce; ++i) sums[i] += lengths_ps[i];
    }
    SLACKLINE_SIDE_BY_SIDE
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      inexact[i] |= lane_s[i] >= kMostPicoseconds || post_s[i] >= kMostPicoseconds ? -1 : 0;
      lane_s[i] *= 1e-12;
      post_s[i] *= 1e-12;
    }
  }

 private:
  std::uint64_t bits(std::uint64_t stream, std::uint64_t index, std::uint32_t i) const {
    return machine::mix_bits(seed_terms_[i] + (stream + index * machine::kAttemptFactor));
  }

  // draw_below(kAlways) < chance, without its division of each draw.
  void draw_chances(const StreamDelays::Strike& strike, std::uint64_t index,
                    double (&lengths_ps)[kAtOnce]) const {
    const auto bound = static_cast<std::uint64_t>(
        ((static_cast<unsigned __int128>(strike.noise->chance.value) << 64) + kAlways - 1) /
        kAlways);
    SLACKLINE_SIDE_BY_SIDE
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      lengths_ps[i] = bits(strike.chance_stream, index, i) < bound ? lengths_ps[i] : 0;
    }
  }

  void draw_lengths(const StreamDelays::Strike& strike, std::uint32_t rank, std::uint64_t index,
                    double (&lengths_ps)[kAtOnce]) const {
    const machine::Distribution& of = strike.noise->of;
    using Kind = machine::Distribution::Kind;
    const auto low = static_cast<double>(of.low.count());
    const auto span = static_cast<double>(of.high.count() - of.low.count());
    if (of.kind == Kind::kConstant) {
      for (double& length_ps : lengths_ps) length_ps = low;
    } else if (of.kind == Kind::kUniform && span < 0x1p50) {
      SLACKLINE_SIDE_BY_SIDE
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        const double uniform = real_of(bits(strike.length_stream, index, i) >> 11) * 0x1p-53;
        const double above = whole_part(uniform * (span + 1));
        lengths_ps[i] = (above > span ? span : above) + low;
      }
    } else {
      SLACKLINE_SIDE_BY_SIDE
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        lengths_ps[i] =
            static_cast<double>(of.draw(first_seed_ + i, rank, 2 * strike.place, index).count());
      }
    }
  }

  const StreamDelays& delays_;
  std::uint64_t first_seed_;
  alignas(64) std::uint64_t seed_terms_[kAtOnce];
};

SLACKLINE_FOR_EVERY_MACHINE
void run_all(StreamPass<kAtOnce, Noises>& pass) { pass.run(); }

}  // namespace

std::optional<StreamSamples> stream_samples(const sched::Spec& spec,
                                            const machine::Platform& platform,
                                            const machine::DelayPlan& plan,
                                            const machine::SampleRuns& runs) {
  const sched::PatternEntry* pattern = sched::find_plan_pattern(spec.pattern);
  if (pattern != nullptr) check(spec.multicast);
  validate(plan, spec.multicast.ranks);
  if (pattern == nullptr || why_not_streamed(spec, platform, plan)) return std::nullopt;
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
        const Noises noises(delays, plan.seed + first);
        StreamPass<kAtOnce, Noises> pass(*source, figures, noises);
        run_all(pass);
        for (std::uint32_t i = 0; i < std::min(kAtOnce, runs.samples - first); ++i) {
          result.exact[first + i] = pass.out_of_order(i) ? 0 : 1;
          double& makespan_s = result.samples.makespan_s[first + i];
          for (std::uint32_t r = 0; r < figures.ranks; ++r) {
            const double finish_s = pass.finish_s(r, i);
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
  const sched::Schedule schedule = sched::compile(spec);
  const machine::Setting setting(schedule, platform, delays);
  machine::run_samples(kAnalyticEngine.source(setting), schedule, delays, runs, which,
                       streamed.samples);
  for (const std::uint32_t sample : which) streamed.exact[sample] = 1;
}

}  // namespace slackline::analysis
