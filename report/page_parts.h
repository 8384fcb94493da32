// The page of a report without its data, as it was built in (cmake/EmbedPage.cmake).
#pragma once

#include <string_view>

namespace slackline::report {

struct PageParts {
  std::string_view html;  // with places `{{NAME}}` for the rest
  std::string_view style;
  std::string_view script;
  std::string_view style_hash;  // "sha256-…", as Content-Security-Policy wants it
  std::string_view script_hash;
};

PageParts page_parts();

}  // namespace slackline::report
