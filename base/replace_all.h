// One text in place of another.
#pragma once

#include <string>
#include <string_view>

namespace slackline::base {

/// Every `what`, which is not empty, becomes `by`.
inline void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
}

}  // namespace slackline::base
