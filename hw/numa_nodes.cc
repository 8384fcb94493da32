#include "hw/numa_nodes.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/number.h"
#include "base/system_file.h"

namespace slackline::hw {
namespace {

constexpr int kUnknown = 20;
constexpr int kMostCores = 1 << 16;

}  // namespace

std::vector<std::uint32_t> parse_cpu_list(std::string_view text) {
  std::vector<std::uint32_t> cores;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int first = 0;
    auto read = std::from_chars(at, end, first);
    int last = first;
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') {
      read = std::from_chars(read.ptr + 1, end, last);
    }
    if (read.ec != std::errc() || first < 0 || last < first || last >= kMostCores) return {};
    for (int core = first; core <= last; ++core) {
      cores.push_back(static_cast<std::uint32_t>(core));
    }
    at = read.ptr;
    if (at == end) break;
    if (*at != ',' || ++at == end) return {};
  }
  std::sort(cores.begin(), cores.end());
  return cores;
}

NumaNodes NumaNodes::of_this_machine(const std::string& root) {
  NumaNodes all;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(root, none)) {
    const std::string name = entry.path().filename();
    Node node;
    if (!name.starts_with("node")) continue;
    const auto number = base::whole_number<int>(name.substr(4));
    if (!number) continue;
    node.number = *number;
    node.cores = parse_cpu_list(base::first_line(entry.path() / "cpulist"));
    std::ifstream distances(entry.path() / "distance");
    node.distances.assign(std::istream_iterator<int>(distances), {});
    all.nodes_.push_back(std::move(node));
  }
  std::sort(all.nodes_.begin(), all.nodes_.end(),
            [](const Node& a, const Node& b) { return a.number < b.number; });
  return all;
}

std::vector<int> NumaNodes::of_cores(const std::vector<std::uint32_t>& cores) const {
  std::vector<int> found;
  for (const Node& node : nodes_) {
    const auto here = [&](std::uint32_t core) {
      return std::binary_search(node.cores.begin(), node.cores.end(), core);
    };
    if (std::any_of(cores.begin(), cores.end(), here)) found.push_back(node.number);
  }
  return found;
}

std::vector<int> NumaNodes::numbers() const {
  std::vector<int> all;
  for (const Node& node : nodes_) all.push_back(node.number);
  return all;
}

int NumaNodes::distance(const std::vector<int>& from, int node) const {
  const auto place = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const Node& known) { return known.number == node; });
  int least = -1;
  for (const Node& known : nodes_) {
    const auto at = static_cast<std::size_t>(place - nodes_.begin());
    if (std::find(from.begin(), from.end(), known.number) == from.end()) continue;
    if (place == nodes_.end() || at >= known.distances.size()) continue;
    if (least < 0 || known.distances[at] < least) least = known.distances[at];
  }
  return least < 0 ? kUnknown : least;
}

}  // namespace slackline::hw
