// Texts of anybody's inside XML.
#pragma once

#include <string>
#include <string_view>

namespace slackline::sched {

/// As the content of an element or of an attribute in double quotes; what is not printable is
/// written out, as shown() does.
std::string xml_text(std::string_view text);

}  // namespace slackline::sched
