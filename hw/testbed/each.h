// A program that runs on each host of a testbed at once, as those do that are started rank by rank.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/testbed/switch_tree.h"

namespace slackline::hw {

/// The words for a host's rank: {rank}, {ranks} and {root} within them are its number, how many
/// there are, and where rank 0 listens.
std::vector<std::string> words_of_rank(const std::vector<std::string>& words, std::uint32_t rank,
                                       std::uint32_t ranks);

/// Runs them from `folder`, by the testbed's entry program, until all have ended or `stop` is
/// readable: then those that are left are ended. `hear` is given each line of their output and
/// errors. Returns the exit statuses of all, in the hosts' order; 255 for a host that was lost or
/// ended.
std::vector<int> run_on_each(
    const SwitchTree& tree, const std::string& entry_program, const std::string& folder,
    const std::vector<std::string>& words, int stop,
    const std::function<void(const std::string& host, std::string_view line)>& hear);

}  // namespace slackline::hw
