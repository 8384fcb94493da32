#include "cli/share_option.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/number.h"

namespace slackline::cli {

double parse_share(std::string_view text, std::string_view option, std::string_view of) {
  const bool percent = text.ends_with('%');
  const auto value = base::whole_number<double>(percent ? text.substr(0, text.size() - 1) : text);
  if (!value || !std::isfinite(*value) || *value < 0) {
    throw InputError(
        fmt::format("{}: '{}'; expected a share of {}, as 5% or 0.05", option, text, of));
  }
  return percent ? *value / 100 : *value;
}

}  // namespace slackline::cli
