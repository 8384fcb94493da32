#include "base/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace slackline::sched {
namespace {

constexpr std::size_t kMaxErrors = 2;
constexpr std::size_t kLeastPart = 3;  // letters that say which name is meant
constexpr std::size_t kMostMeant = 4;  // names; more are no help

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

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
  const std::string wanted = lower_case(given);
  for (const std::string_view name : names) {
    if (given.size() > name.size() + kMaxErrors) continue;
    const std::size_t errors = edit_distance(wanted, lower_case(name));
    if (errors < fewest && errors < std::min(given.size(), name.size())) {
      fewest = errors;
      nearest = name;
    }
  }
  return nearest;
}

namespace {

// "'a', 'b' or 'c'", or "".
std::string meant_names(std::string_view given, std::span<const std::string_view> names) {
  std::vector<std::string_view> meant;
  if (const std::string_view nearest = nearest_name(given, names); !nearest.empty()) {
    meant.push_back(nearest);
  } else if (given.size() >= kLeastPart) {
    std::ranges::copy_if(names, std::back_inserter(meant), [&](std::string_view name) {
      return name.find(given) != std::string_view::npos;
    });
  }
  if (meant.empty() || meant.size() > kMostMeant) return "";
  std::string text = fmt::format("'{}'", meant.front());
  for (std::size_t i = 1; i < meant.size(); ++i) {
    text += fmt::format("{} '{}'", i + 1 < meant.size() ? "," : " or", meant[i]);
  }
  return text;
}

}  // namespace

std::string did_you_mean(std::string_view given, std::span<const std::string_view> names) {
  const std::string meant = meant_names(given, names);
  return meant.empty() ? "" : fmt::format(": did you mean {}?", meant);
}

std::string unknown_name(std::string_view what, std::string_view given,
                         std::span<const std::string_view> names) {
  constexpr std::size_t kMostNames = 24;  // beyond, a line that helps no more
  const std::string meant = meant_names(given, names);
  if (!meant.empty() && names.size() > kMostNames) {
    return fmt::format("unknown {} '{}': did you mean {}?", what, given, meant);
  }
  return fmt::format("unknown {} '{}'{}; known: {}", what, given,
                     meant.empty() ? "" : fmt::format(": did you mean {}?", meant),
                     fmt::join(names, ", "));
}

}  // namespace slackline::sched
