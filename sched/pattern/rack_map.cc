#include "sched/pattern/rack_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/read_file.h"
#include "base/split.h"
#include "base/units.h"

namespace slackline::sched {

std::uint32_t default_rack_count(std::uint32_t ranks) {
  std::uint32_t racks = 1;
  while (std::uint64_t{racks} * racks < ranks) ++racks;
  return racks;
}

std::vector<std::uint32_t> contiguous_racks(std::uint32_t ranks, std::uint32_t racks) {
  std::vector<std::uint32_t> rack_of_rank(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    rack_of_rank[rank] = static_cast<std::uint32_t>(std::uint64_t{rank} * racks / ranks);
  }
  return rack_of_rank;
}

void check_racks(const std::vector<std::uint32_t>& rack_of_rank, std::uint32_t ranks,
                 const std::string& what) {
  if (rack_of_rank.size() != ranks) {
    throw InputError(fmt::format("{}: racks of {} ranks; expected one for each of {}", what,
                                 rack_of_rank.size(), ranks));
  }
  std::vector<bool> seen(ranks, false);
  std::uint32_t highest = 0;
  for (const std::uint32_t rack : rack_of_rank) {
    if (rack >= ranks) {
      throw InputError(fmt::format("{}: rack {}; expected 0 to {}", what, rack, ranks - 1));
    }
    seen[rack] = true;
    highest = std::max(highest, rack);
  }
  const auto gap = std::find(seen.begin(), seen.begin() + highest, false);
  if (gap != seen.begin() + highest) {
    throw InputError(fmt::format("{}: no rank is in rack {}; expected racks 0 to {} without gaps",
                                 what, gap - seen.begin(), highest));
  }
}

std::vector<std::uint32_t> read_rack_map(const std::string& path, std::uint32_t ranks) {
  // A line for each rank, and room for what is said of it.
  constexpr std::uint64_t kMostOfRank = 256;
  const std::string text = [&] {
    try {
      return read_file(path, (std::uint64_t{1} << 20) + kMostOfRank * ranks);
    } catch (const InputError& error) {
      throw InputError(fmt::format("rack-map: {}", error.what()));
    }
  }();
  std::vector<std::uint32_t> rack_of_rank;
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view whole = base::take_item(rest, '\n');
    const std::string_view line = base::trimmed(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    const std::string what = fmt::format("rack-map: {}:{}", path, number);
    if (rack_of_rank.size() == ranks) {
      throw InputError(
          fmt::format("{}: one rack more; expected {}, one for each rank", what, ranks));
    }
    rack_of_rank.push_back(static_cast<std::uint32_t>(parse_count(line, what, 0, ranks - 1)));
  }
  check_racks(rack_of_rank, ranks, "rack-map: " + path);
  return rack_of_rank;
}

}  // namespace slackline::sched
