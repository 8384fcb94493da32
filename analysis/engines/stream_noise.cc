#include "analysis/engines/stream_noise.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "machine/draw.h"

namespace slackline::analysis {
namespace {

constexpr std::uint32_t kAlways = 1'000'000;

}  // namespace

StreamDelays::StreamDelays(const machine::DelayPlan& plan, const StreamFigures& figures) {
  if (!plan.stragglers.empty()) straggle_ps_.resize(3 * std::size_t{figures.ranks}, 0);
  for (const machine::Straggler& straggler : plan.stragglers) {
    const double holds_s[] = {figures.o_post_s, figures.copy_s, figures.last_copy_s};
    const bool copies = figures.copies_first_block && straggler.rank != figures.root;
    for (std::size_t hold = 0; hold < (copies ? 3 : 1); ++hold) {
      // To the nearest picosecond.
      const double more_ps = std::floor((straggler.slowdown - 1) * holds_s[hold] * 1e12 + 0.5);
      if (more_ps >= static_cast<double>((sched::kForever - straggler.by).count())) {
        throw InputError(
            fmt::format("delay plan: straggler {}: delays of 106 days or more; expected less",
                        straggler.rank.value));
      }
      straggle_ps_[3 * std::size_t{straggler.rank.value} + hold] =
          more_ps + static_cast<double>(straggler.by.count());
    }
  }
  std::vector<std::vector<char>> strikes_rank(plan.noise.size());
  for (std::size_t place = 0; place < plan.noise.size(); ++place) {
    const machine::Noise& noise = plan.noise[place];
    strikes_rank[place].assign(figures.ranks, noise.ranks.empty() ? 1 : 0);
    for (const sched::RankId rank : noise.ranks) strikes_rank[place][rank.value] = 1;
  }
  begin_.reserve(figures.ranks + std::size_t{1});
  for (std::uint32_t rank = 0; rank < figures.ranks; ++rank) {
    begin_.push_back(strikes_.size());
    for (std::size_t place = 0; place < plan.noise.size(); ++place) {
      if (strikes_rank[place][rank] == 0) continue;
      strikes_.push_back({&plan.noise[place], place, machine::draw_stream(rank, 2 * place),
                          machine::draw_stream(rank, 2 * place + 1)});
    }
  }
  begin_.push_back(strikes_.size());
}

void OneNoise::draw(std::uint32_t rank, std::uint64_t index, Hold hold, double (&lane_s)[1],
                    double (&post_s)[1], std::int64_t (&inexact)[1]) const {
  double lane_ps = delays_.straggle_ps(rank, hold);
  double post_ps = 0;
  for (const StreamDelays::Strike& strike : delays_.strikes(rank)) {
    const machine::Noise& noise = *strike.noise;
    const bool struck = noise.chance.value >= kAlways ||
                        machine::draw_below({seed_, rank, 2 * strike.place + 1, index}, kAlways) <
                            noise.chance.value;
    if (!struck) continue;
    (noise.whole_lane ? lane_ps : post_ps) +=
        static_cast<double>(noise.of.draw(seed_, rank, 2 * strike.place, index).count());
  }
  if (lane_ps >= kMostPicoseconds || post_ps >= kMostPicoseconds) inexact[0] = -1;
  lane_s[0] = lane_ps * 1e-12;
  post_s[0] = post_ps * 1e-12;
}

}  // namespace slackline::analysis
