#include "base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace slackline::sched {
namespace {

constexpr std::size_t kMaxErrors = 2;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view given, std::span<const std::string_view> names) {
  std::string_view nearest;
  std::size_t fewest = kMaxErrors + 1;
  for (const std::string_view name : names) {
    if (given.size() > name.size() + kMaxErrors) continue;
    const std::size_t errors = edit_distance(given, name);
    if (errors < fewest && errors < std::min(given.size(), name.size())) {
      fewest = errors;
      nearest = name;
    }
  }
  return nearest;
}

std::string unknown_name(std::string_view what, std::string_view given,
                         std::span<const std::string_view> names) {
  constexpr std::size_t kMostNames = 24;  // beyond, a line that helps no more
  const std::string_view nearest = nearest_name(given, names);
  if (!nearest.empty() && names.size() > kMostNames) {
    return fmt::format("unknown {} '{}': did you mean '{}'?", what, given, nearest);
  }
  return fmt::format("unknown {} '{}'{}; known: {}", what, given,
                     nearest.empty() ? "" : fmt::format(": did you mean '{}'?", nearest),
                     fmt::join(names, ", "));
}

}  // namespace slackline::sched
