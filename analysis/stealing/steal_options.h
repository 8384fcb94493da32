// What a search of an unbalanced tree is told whose steals are decided as it runs.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "sched/workloads/tasks/uts_tree.h"

namespace slackline::analysis {

/// How much of what it has a victim gives: half of its vertices, or one chunk while it has two.
enum class StealShare : std::uint8_t { kHalf, kChunk };

struct StealOptions {
  sched::UtsParameters tree;
  std::uint32_t ranks = 2;      // 1 to kMostStealRanks
  sched::Time work{1'000'000};  // a vertex
  std::uint32_t look = 8;       // vertices between two looks for messages, ≥ 1
  StealShare share = StealShare::kHalf;
  std::uint32_t chunk = 20;      // vertices, ≥ 1
  sched::Time handler{100'000};  // of each message that is taken
  sched::Time rest{2'000'000};   // after a refusal; twice as long after each more, up to 32 times
  std::uint64_t seed = 1;        // of the victims
};

inline constexpr std::uint32_t kMostStealRanks = 1024;
inline constexpr std::uint64_t kMostStealVertices = 1u << 24;

/// Bytes of a vertex that is given away: a digest and a depth.
inline constexpr std::uint64_t kVertexBytes = 24;
/// Behind each message, which its receiver polls for.
inline constexpr std::uint64_t kStealMark = 8;

enum class StealMessage : std::uint8_t { kAsk, kNo, kWork, kToken, kDone };

/// Of a message that gives `vertices`, its mark included.
constexpr std::uint64_t bytes_of(StealMessage kind, std::uint64_t vertices) {
  constexpr std::uint64_t kRecord = 16;  // who asks, and how often; what was counted
  switch (kind) {
    case StealMessage::kAsk:
    case StealMessage::kToken:
      return kRecord + kStealMark;
    case StealMessage::kWork:
      return kVertexBytes * vertices + kStealMark;
    default:
      return kStealMark;
  }
}

}  // namespace slackline::analysis
