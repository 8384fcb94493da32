// Texts that are numbers, of whatever unit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slackline::sweep {

struct Quantity {
  double value = 0;
  std::string_view unit;  // "B", "s", "bit/s"; empty for a number alone
};

/// Nothing if it is neither a number nor a size, a time or a rate.
std::optional<Quantity> quantity_of(const std::string& text);

}  // namespace slackline::sweep
