// What a leader tells its followers, as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hw/bytes.h"
#include "hw/run.h"

namespace slackline::hw {

enum class LeaderWord : std::uint8_t { kEnd, kRun, kRunAgain };

/// A word, and what belongs to it.
struct LeaderOrder {
  LeaderWord word = LeaderWord::kEnd;
  /// But for its slack, which is `slack_s`; what people are told is the leader's business.
  RunOptions options;
  std::vector<double> slack_s;
  std::string schedule;  // kRun: its text
};

std::vector<std::byte> encode_end();
/// `schedule`: its text; empty: the one before runs again.
std::vector<std::byte> encode_run(const RunOptions& options, std::string_view schedule);
/// Throws BadBytes, and InputError for a delay plan that is none and for switches that are none.
LeaderOrder read_leader_order(ByteReader& reader);

}  // namespace slackline::hw
