// --sizes: the messages of a sweep.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace slackline::cli {

/// A sweep has at most so many sizes: doubling from 1 byte to the largest size takes 63.
inline constexpr std::size_t kMostSizes = 100;

/// Reads a list of sizes and ranges, in the order in which they are to be run: "64KiB",
/// "1KiB..64MiB" (doubling, up to its end at most), "1KiB..64MiB:x4", "0,1KiB..4KiB,1MB". Throws
/// InputError, naming --sizes, for what is none of these, a range that begins with 0 or ends before
/// it begins, and more than kMostSizes.
std::vector<std::uint64_t> parse_sizes(std::string_view text);

}  // namespace slackline::cli
