#include "experiments/facts.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace slackline::experiments {
namespace {

std::string percent(double relative) {
  return relative < 1e-6 ? std::string("rounding") : fmt::format("{:g} %", 100 * relative);
}

}  // namespace

Fact& Facts::add(Fact fact) {
  facts_.push_back(std::move(fact));
  return facts_.back();
}

Fact& Facts::equal(std::string fact, Source source, double expected, double got, double relative) {
  const bool ok = std::abs(got - expected) <= relative * std::abs(expected);
  return add({std::move(fact), source, expected, percent(relative), got, ok, ""});
}

Fact& Facts::near(std::string fact, Source source, double expected, double got, double margin) {
  const bool ok = std::abs(got - expected) <= margin;
  return add({std::move(fact), source, expected, fmt::format("{:g}", margin), got, ok, ""});
}

Fact& Facts::at_most(std::string fact, Source source, double bound, double got) {
  const bool ok = got <= bound && std::isfinite(got);
  return add({std::move(fact), source, fmt::format("at most {}", shown(bound)), "", got, ok, ""});
}

Fact& Facts::at_least(std::string fact, Source source, double bound, double got) {
  const bool ok = got >= bound && std::isfinite(got);
  return add({std::move(fact), source, fmt::format("at least {}", shown(bound)), "", got, ok, ""});
}

Fact& Facts::between(std::string fact, Source source, double low, double high, double got) {
  const bool ok = got >= low && got <= high;
  return add(
      {std::move(fact), source, fmt::format("{} to {}", shown(low), shown(high)), "", got, ok, ""});
}

Fact& Facts::that(std::string fact, Source source, std::string expected, std::string got, bool ok) {
  return add({std::move(fact), source, std::move(expected), "", std::move(got), ok, ""});
}

}  // namespace slackline::experiments
