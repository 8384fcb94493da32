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

}  // namespace slackline::base
