// What a command answers, as one page for a browser that needs nothing else.
#pragma once

#include <string>
#include <string_view>

namespace slackline::report {

/// The page as HTML. `answer` is a JSON object: its numbers are shown in the unit that their keys
/// end with (`_s`, `bytes`, `bytes_per_s`, `bits_per_s`, `share`), its lists of objects as tables
/// that can be sorted, and lists of objects with `x` and `y` as curves. The same answer gives the
/// same bytes. Throws InternalError unless `answer` is a JSON object.
std::string answer_page(std::string_view title, std::string_view answer);

}  // namespace slackline::report
