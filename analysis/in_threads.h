// Work that falls into independent pieces, over several threads.
#pragma once

#include <cstdint>
#include <functional>

namespace slackline::analysis {

/// Calls work(0) … work(count − 1), `jobs` at a time, in no particular order; meanwhile the calling
/// thread is told now and then, and at the end, how many are done, if `progress` is not empty. If
/// any throws, no more are begun, and the exception of the lowest is thrown on. If `progress`
/// throws, no more are begun either, and its exception is thrown on once the others are done.
void in_threads(std::uint32_t count, std::uint32_t jobs,
                const std::function<void(std::uint32_t)>& work,
                const std::function<void(std::uint32_t done)>& progress = {});

}  // namespace slackline::analysis
