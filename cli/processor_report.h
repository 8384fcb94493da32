// Whether the ranks of a real run had processors, for people and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/json_output.h"
#include "hw/processor_use.h"
#include "hw/rank_facts.h"

namespace slackline::cli {

/// The rank that waited for its processor the largest share of the time.
struct LongestWait {
  std::uint32_t rank = 0;
  double share = 0;
};
/// Nothing if it is known of no rank.
std::optional<LongestWait> longest_wait(const std::vector<hw::ProcessorUse>& by_rank);

/// "rank 2 waited for one 31.2 % of the time; 4 ranks on 2 cores".
std::string processor_row(const std::vector<hw::ProcessorUse>& by_rank,
                          const std::vector<hw::RankFacts>& facts);

/// `processor_wait_share` and `preemptions`, by rank.
void add_processor(const std::vector<hw::ProcessorUse>& by_rank, JsonOutput& json);
/// `ranks_on_host` and `cores_on_host`, of the host with the most ranks for a core.
void add_fullest_host(const std::vector<hw::RankFacts>& facts, JsonOutput& json);

}  // namespace slackline::cli
