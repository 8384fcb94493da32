// Which rank stands in which rack.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slackline::sched {

/// ⌈√ranks⌉.
std::uint32_t default_rack_count(std::uint32_t ranks);

/// The rack of every rank: `racks` (1 … ranks) runs of neighbouring ranks, as even as can be.
std::vector<std::uint32_t> contiguous_racks(std::uint32_t ranks, std::uint32_t racks);

/// Throws InputError, naming `what`, unless there is a rack for each of `ranks` ranks and racks are
/// numbered from 0 without gaps.
void check_racks(const std::vector<std::uint32_t>& rack_of_rank, std::uint32_t ranks,
                 const std::string& what);

/// Reads the rack of each rank in turn from a text file: one whole number a line; `#` starts a
/// comment; empty lines do not count. Throws InputError, naming file and line.
std::vector<std::uint32_t> read_rack_map(const std::string& path, std::uint32_t ranks);

}  // namespace slackline::sched
