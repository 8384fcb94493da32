// What a collective of a Chakra trace becomes: a schedule of ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sched/import/chakra_trace.h"

namespace slackline::sched {

/// The spec of the pattern that carries it out among so many ranks; nothing for a collective that
/// there is none for, by name. `node` has a size of at least 0. Throws InputError, with what was
/// expected but not where, for a size that does not divide among the ranks and for a broadcast
/// without its root.
std::optional<std::string> chakra_collective_spec(const ChakraNode& node, std::uint32_t ranks);

/// What the schema calls a type: "ALL_REDUCE"; its number for one that it does not have.
std::string chakra_collective_name(std::int64_t type);

}  // namespace slackline::sched
