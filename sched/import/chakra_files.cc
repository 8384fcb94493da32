#include "sched/import/chakra_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text_scan.h"

namespace slackline::sched {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".et";
constexpr std::uint64_t kMostRanks = 1u << 24;

// The prefix and the rank of a name PREFIX.RANK.et, the rank as we would write it.
std::optional<std::pair<std::string, std::uint64_t>> parts_of(std::string_view name) {
  if (!name.ends_with(kEnding)) return std::nullopt;
  name.remove_suffix(kEnding.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  std::string_view digits = name.substr(dot + 1);
  std::uint64_t rank = 0;
  const std::string_view all = digits;
  if (!take_number(digits, rank) || !digits.empty() || all != fmt::format("{}", rank)) {
    return std::nullopt;
  }
  return std::pair(std::string(name.substr(0, dot)), rank);
}

// The ranks of each prefix in a folder.
std::map<std::string, std::vector<std::uint64_t>> traces_in(const fs::path& folder) {
  std::map<std::string, std::vector<std::uint64_t>> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const auto parts = parts_of(it->path().filename().string());
    if (parts) found[parts->first].push_back(parts->second);
  }
  if (error) {
    throw InputError(fmt::format("{}: cannot read the folder: {}; expected a readable one",
                                 folder.string(), error.message()));
  }
  return found;
}

ChakraFiles with_all(std::string prefix, std::vector<std::uint64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  for (std::uint64_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r] == r) continue;
    throw InputError(
        fmt::format("{}.{}.et: it is missing, and {}.{}.et is there; expected the trace "
                    "of each rank from 0 on",
                    prefix, r, prefix, ranks.back()));
  }
  if (ranks.size() > kMostRanks) {
    throw InputError(
        fmt::format("{}: {} ranks; expected at most {}", prefix, ranks.size(), kMostRanks));
  }
  return {std::move(prefix), static_cast<std::uint32_t>(ranks.size())};
}

}  // namespace

std::string ChakraFiles::of_rank(std::uint32_t rank) const {
  return fmt::format("{}.{}.et", prefix, rank);
}

std::optional<ChakraFiles> chakra_files(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    const auto found = traces_in(path);
    if (found.empty()) {
      throw InputError(
          fmt::format("{}: a folder without traces; expected a file, or a folder of Chakra traces "
                      "NAME.RANK.et",
                      path));
    }
    if (found.size() > 1) {
      throw InputError(fmt::format(
          "{}: a folder with the traces of {} programs, '{}' and '{}' among them; expected one, or "
          "a trace's file",
          path, found.size(), found.begin()->first, std::next(found.begin())->first));
    }
    return with_all((fs::path(path) / found.begin()->first).string(), found.begin()->second);
  }
  const bool exists = fs::exists(path, ignored);
  std::string prefix = path;
  if (const auto parts = parts_of(path)) {
    if (!exists) return std::nullopt;
    prefix = parts->first;
  } else if (exists || !fs::exists(path + ".0.et", ignored)) {
    return std::nullopt;
  }
  const fs::path folder = fs::path(prefix).parent_path();
  auto found = traces_in(folder.empty() ? fs::path(".") : folder);
  return with_all(prefix, std::move(found[fs::path(prefix).filename().string()]));
}

}  // namespace slackline::sched
