// What comes of telling all ranks a word of rank 0's by the launcher that started them.
#pragma once

#include <string>

namespace slackline::hw {

struct SharedWord {
  /// Rank 0's, the same at all ranks; empty if the launcher has no exchange of keys for this
  /// process after all. That shows before anything was exchanged, at all ranks alike.
  std::string word;
  /// Then: why it has none, in some words.
  std::string why_none;
};

/// Bytes that a word may have, which every launcher takes.
inline constexpr std::size_t kMostSharedWord = 512;
/// The key under which it stands.
inline constexpr const char* kSharedWordKey = "slackline.rank0";

}  // namespace slackline::hw
