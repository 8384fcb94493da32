#include "experiments/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace slackline::experiments {

std::string shown(const NumberOrText& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const double number = std::get<double>(value);
  // Whole numbers keep all their digits.
  if (number == static_cast<double>(static_cast<long long>(number)) && number < 1e15 &&
      number > -1e15) {
    return fmt::format("{}", static_cast<long long>(number));
  }
  return fmt::format("{:.5g}", number);
}

bool ExperimentReport::holds() const {
  return std::all_of(facts.begin(), facts.end(), [](const JudgedFact& fact) { return fact.ok; });
}

}  // namespace slackline::experiments
