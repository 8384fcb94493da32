#include "base/split.h"

#include <algorithm>

namespace slackline::base {

std::string_view take_item(std::string_view& text, char separator) {
  const std::string_view item = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), item.size() + 1));
  return item;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> items;
  for (bool more = true; more;) {
    const std::size_t before = text.size();
    items.push_back(take_item(text, separator));
    more = items.back().size() < before;
  }
  return items;
}

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = line.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlank) - first + 1);
}

}  // namespace slackline::base
