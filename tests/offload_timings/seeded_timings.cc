#include "tests/offload_timings/seeded_timings.h"

#include <algorithm>
#include <cstring>

#include "machine/draw.h"

// One source, compiled for several instruction sets; the widest that the machine has is taken. All
// compute the same: nothing is fused or reordered.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SLACKLINE_FOR_EVERY_MACHINE \
  __attribute__((flatten, target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SLACKLINE_FOR_EVERY_MACHINE
#endif

namespace slackline::offload {
namespace {

constexpr std::uint32_t kLanes = 16;
constexpr float kSlow = 512;

// Sixteen numbers side by side, in whatever registers the machine has.
using Reals [[gnu::vector_size(4 * kLanes)]] = float;
using Words [[gnu::vector_size(4 * kLanes)]] = std::uint32_t;

// The lengths of sixteen timings, one after another (Marsaglia's xorshift).
struct Draws {
  std::uint32_t state[kLanes];
  std::uint32_t mask[kLanes];  // of mantissa and exponent: how far lengths differ
};

template <bool kRecord>
[[gnu::always_inline]] inline void follow_events(const TimingGraph::Event* events,
                                                 std::size_t count, const float* factors,
                                                 const Draws& draws, float* ends, float* takes) {
  Words state, mask;
  std::memcpy(&state, draws.state, sizeof state);
  std::memcpy(&mask, draws.mask, sizeof mask);
  for (std::size_t i = 0; i < count; ++i) {
    Reals a, b, factor;
    std::memcpy(&a, ends + std::size_t{events[i].before[0]} * kLanes, sizeof a);
    std::memcpy(&b, ends + std::size_t{events[i].before[1]} * kLanes, sizeof b);
    std::memcpy(&factor, factors + std::size_t{events[i].factor} * kLanes, sizeof factor);
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    // The bits of numbers between 1 and 2^16.
    const Words bits = 0x3f800000u + ((state >> 5) & mask);
    Reals length;
    std::memcpy(&length, &bits, sizeof length);
    length *= factor;
    const Reals end = (a > b ? a : b) + length;
    std::memcpy(ends + (i + 1) * kLanes, &end, sizeof end);
    if constexpr (kRecord) std::memcpy(takes + (i + 1) * kLanes, &length, sizeof length);
  }
}

SLACKLINE_FOR_EVERY_MACHINE void follow_all(const TimingGraph::Event* events, std::size_t count,
                                            const float* factors, const Draws& draws, float* ends) {
  follow_events<false>(events, count, factors, draws, ends, nullptr);
}

}  // namespace

SeededTimings::SeededTimings(const QueueProgram& program, const sched::Schedule& schedule,
                             const MessageGraph& graph)
    : program_(program), graph_(program, schedule, graph) {
  ends_at_.assign((graph_.events.size() + 1) * kLanes, 0);
  const std::size_t rows = 1 + program.rank_count() + 3 * program.queues().size();
  factors_.assign(rows * kLanes, 0);
}

void SeededTimings::draw_factors(std::uint64_t first) {
  Words state, exponents;
  std::uint32_t starved[kLanes];
  for (std::uint32_t l = 0; l < kLanes; ++l) {
    const std::uint64_t seed = first + l;
    const std::uint64_t bits = machine::draw_bits(machine::draw_stream(0, 1), seed, 0);
    const auto lengths = static_cast<Lengths>(seed % 4);
    state[l] = std::max(1u, static_cast<std::uint32_t>(bits));
    exponents[l] = lengths == Lengths::kQueue ? 12u << 23 : 0;  // 2^12
    starved[l] = lengths == Lengths::kStarve
                     ? static_cast<std::uint32_t>((bits >> 32) % program_.rank_count())
                     : program_.rank_count();
  }
  for (std::size_t row = 1; row * kLanes < factors_.size(); ++row) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    const Words one_in_16 = reinterpret_cast<Words>((state >> 28) == 15u);
    const Words bits = 0x3f800000u + (one_in_16 & exponents);
    std::memcpy(&factors_[row * kLanes], &bits, sizeof bits);
  }
  const std::uint32_t ranks = program_.rank_count();
  for (std::uint32_t l = 0; l < kLanes; ++l) {
    if (starved[l] == ranks) continue;
    factors_[(1 + std::size_t{starved[l]}) * kLanes + l] = kSlow;
    for (std::uint32_t q = 0; q < program_.queues().size(); ++q) {
      if (program_.queues()[q].rank.value != starved[l]) continue;
      for (std::uint32_t kind = 0; kind < 3; ++kind) {
        factors_[(1 + ranks + 3 * std::size_t{q} + kind) * kLanes + l] = kSlow;
      }
    }
  }
}

void SeededTimings::follow(std::uint64_t first, bool record) {
  draw_factors(first);
  Draws draws;
  for (std::uint32_t l = 0; l < kLanes; ++l) {
    const std::uint64_t seed = first + l;
    const std::uint64_t bits = machine::draw_bits(machine::draw_stream(0, 0), seed, 0);
    draws.state[l] = std::max(1u, static_cast<std::uint32_t>(bits));
    constexpr std::uint32_t kMasks[] = {0x01ffffff, 0x07ffffff, 0x01ffffff, 0x03ffffff};
    draws.mask[l] = kMasks[seed % 4];
  }
  if (record) {
    takes_.assign(ends_at_.size(), 0);
    follow_events<true>(graph_.events.data(), graph_.events.size(), factors_.data(), draws,
                        ends_at_.data(), takes_.data());
  } else {
    follow_all(graph_.events.data(), graph_.events.size(), factors_.data(), draws, ends_at_.data());
  }
}

std::optional<std::uint64_t> SeededTimings::first_unsound(std::uint64_t first,
                                                          std::uint64_t count) {
  const auto end_of = [&](std::uint32_t event) { return &ends_at_[std::size_t{event} * kLanes]; };
  for (std::uint64_t done = 0; done < count; done += kLanes) {
    follow(first + done, false);
    std::uint32_t late[kLanes] = {};
    for (const TimingGraph::Demand& d : graph_.held) {
      const TimingGraph::Event& event = graph_.events[d.event - 1];
      const float* const a = end_of(event.before[0]);
      const float* const b = end_of(event.before[1]);
      const float* const needed = end_of(d.needed);
      for (std::uint32_t l = 0; l < kLanes; ++l) late[l] |= needed[l] > (a[l] > b[l] ? a[l] : b[l]);
    }
    for (const TimingGraph::Demand& d : graph_.posted) {
      const float* const come = end_of(d.event);
      const float* const needed = end_of(d.needed);
      for (std::uint32_t l = 0; l < kLanes; ++l) late[l] |= needed[l] > come[l];
    }
    for (std::uint32_t l = 0; l < kLanes && done + l < count; ++l) {
      if (late[l] != 0) return first + done + l;
    }
  }
  return std::nullopt;
}

SeededTimings::Course SeededTimings::course(std::uint64_t seed) {
  follow(seed, true);
  const auto of = [&](const std::vector<float>& numbers, const std::vector<std::uint32_t>& events) {
    std::vector<float> all;
    all.reserve(events.size());
    for (const std::uint32_t event : events) all.push_back(numbers[std::size_t{event} * kLanes]);
    return all;
  };
  return {of(ends_at_, graph_.start), of(takes_, graph_.entry),     of(ends_at_, graph_.entry),
          of(takes_, graph_.way),     of(ends_at_, graph_.landing), of(takes_, graph_.back),
          of(ends_at_, graph_.back)};
}

}  // namespace slackline::offload
