// A document as the one file that a browser opens.
#pragma once

#include <string>
#include <string_view>

namespace slackline::report {

struct Document;  // report/document.h

/// The page with these facts and columns in it, and `name` as its title.
std::string page_text(std::string_view name, Document&& document);

}  // namespace slackline::report
