#include "cli/list_row.h"

#include <algorithm>
#include <utility>

namespace slackline::cli {

void add_list_row(Table& table, std::string title, std::string_view list) {
  // With a title before it, a line fits into a terminal of some 110 columns.
  constexpr std::size_t kWidth = 84;
  std::string line;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size() - 1);
    const std::string_view item = list.substr(0, comma + 1);
    list.remove_prefix(item.size());
    if (!line.empty() && display_width(line) + display_width(item) > kWidth) {
      table.add({std::exchange(title, ""), std::exchange(line, "")});
    }
    line += item;
  }
  table.add({std::move(title), std::move(line)});
}

}  // namespace slackline::cli
