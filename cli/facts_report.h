// Where and on what each rank of a real run ran, as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "cli/json_output.h"
#include "hw/rank_facts.h"

namespace slackline::cli {

/// A row per rank; columns of which no rank knows anything are left out.
std::string facts_table(const std::vector<hw::RankFacts>& facts);

/// "version", and "rank_facts", a list with an object for each rank.
void add_facts(const std::vector<hw::RankFacts>& facts, JsonOutput& json);

}  // namespace slackline::cli
