// A row of a table whose text is a list, broken where it is wide.
#pragma once

#include <string>
#include <string_view>

#include "cli/table.h"

namespace slackline::cli {

/// A row of a title and a list with commas between. Where it is wide it goes on in rows without a
/// title, and so lines up under its beginning. It is broken behind commas alone.
void add_list_row(Table& table, std::string title, std::string_view list);

}  // namespace slackline::cli
