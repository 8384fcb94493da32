// How much of a process's memory stands in huge pages that the kernel has made of usual ones.
#pragma once

#include <cstdint>
#include <istream>

namespace slackline::hw {

/// Of the mappings that lie within [begin, end), by `smaps`, as /proc/self/smaps is written: bytes
/// in transparent huge pages. What is no such file has none.
std::uint64_t transparent_huge_bytes(std::istream& smaps, std::uint64_t begin, std::uint64_t end);

}  // namespace slackline::hw
