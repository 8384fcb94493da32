// Text in parts: lists written in one line, as "a,b,c", and lines.
#pragma once

#include <string_view>
#include <vector>

namespace slackline::base {

/// Takes the first item off the front of `text`, with the separator behind it; all of `text` if
/// there is none. "a," has one item this way.
std::string_view take_item(std::string_view& text, char separator = ',');

/// Every item, one more than there are separators: "a," has two, and an empty text has one.
std::vector<std::string_view> split(std::string_view text, char separator = ',');

/// Without the blanks, tabulators and carriage returns at both ends.
std::string_view trimmed(std::string_view line);

}  // namespace slackline::base
