#include "cli/sizes_option.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/split.h"
#include "base/units.h"

namespace slackline::cli {
namespace {

constexpr std::string_view kOption = "--sizes";
constexpr std::string_view kTo = "..";
constexpr std::string_view kTimes = ":x";
constexpr std::uint64_t kMostTimes = 1024;

void add_size(std::uint64_t bytes, std::vector<std::uint64_t>& sizes) {
  if (sizes.size() == kMostSizes) {
    throw InputError(
        fmt::format("{}: more than {} sizes; expected at most as many", kOption, kMostSizes));
  }
  sizes.push_back(bytes);
}

// "A..B" or "A..B:xK", whose ".." is at `to`.
void add_range(std::string_view item, std::size_t to, std::vector<std::uint64_t>& sizes) {
  std::string_view end = item.substr(to + kTo.size());
  std::uint64_t times = 2;
  if (const std::size_t colon = end.find(kTimes); colon != std::string_view::npos) {
    times = sched::parse_count(end.substr(colon + kTimes.size()), "--sizes: x", 2, kMostTimes);
    end = end.substr(0, colon);
  }
  const std::uint64_t first = sched::parse_bytes(item.substr(0, to), kOption);
  const std::uint64_t last = sched::parse_bytes(end, kOption);
  if (first == 0 || first > last) {
    throw InputError(fmt::format(
        "{}: '{}'; expected a range from 1 byte or more up to as much or more, as 1KiB..64MiB",
        kOption, item));
  }
  for (std::uint64_t bytes = first; bytes <= last; bytes *= times) {
    add_size(bytes, sizes);
    if (bytes > last / times) return;  // the next one may be no number any more
  }
}

}  // namespace

std::vector<std::uint64_t> parse_sizes(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  for (const std::string_view item : base::split(text)) {
    if (const std::size_t to = item.find(kTo); to != std::string_view::npos) {
      add_range(item, to, sizes);
    } else {
      add_size(sched::parse_bytes(item, kOption), sizes);
    }
  }
  return sizes;
}

}  // namespace slackline::cli
