#include "machine/delay_values.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/error.h"
#include "base/number.h"
#include "base/split.h"
#include "base/suggest.h"
#include "machine/input_text.h"

namespace slackline::machine {
namespace {

using sched::Time;
using Kind = Distribution::Kind;

template <Time Distribution::*member>
constexpr DistributionParameter time_parameter(std::string_view key) {
  return {
      key, "a time such as \"10us\"", false,
      [](Distribution& distribution, std::string_view text, std::string_view what) {
        distribution.*member = parse_finite_time(text, what);
      },
      [](const Distribution& distribution) { return sched::format_time(distribution.*member); }};
}

void set_sigma(Distribution& distribution, std::string_view text, std::string_view what) {
  const auto sigma = base::whole_number<double>(text);
  if (!sigma || !std::isfinite(*sigma) || *sigma < 0) {
    throw InputError(
        fmt::format("{}: {} is no sigma; expected a number of at least 0", what, in_quotes(text)));
  }
  distribution.sigma = *sigma + 0.0;  // no -0
}

constexpr std::array<DistributionParameter, 1> kConstant = {
    time_parameter<&Distribution::low>("by")};
constexpr std::array<DistributionParameter, 2> kUniform = {
    time_parameter<&Distribution::low>("low"), time_parameter<&Distribution::high>("high")};
constexpr std::array<DistributionParameter, 1> kExponential = {
    time_parameter<&Distribution::mean>("mean")};
constexpr std::array<DistributionParameter, 2> kLognormal = {
    {time_parameter<&Distribution::median>("median"),
     {"sigma", "a number such as 0.5", true, set_sigma,
      [](const Distribution& distribution) { return fmt::format("{}", distribution.sigma); }}}};

struct NamedKind {
  std::string_view name;
  Kind kind;
  std::span<const DistributionParameter> parameters;
};
constexpr std::array<NamedKind, 5> kKinds = {{
    {"constant", Kind::kConstant, kConstant},
    {"uniform", Kind::kUniform, kUniform},
    {"exponential", Kind::kExponential, kExponential},
    {"lognormal", Kind::kLognormal, kLognormal},
    {"trace", Kind::kTrace, {}},
}};

const NamedKind& named(Kind kind) {
  for (const NamedKind& entry : kKinds) {
    if (entry.kind == kind) return entry;
  }
  throw InternalError("a distribution without a name");
}

}  // namespace

// Picoseconds up to 2^63 − 2; the last value stands for ever.
Time parse_finite_time(std::string_view text, std::string_view what) {
  const Time time = sched::parse_time(text, what);
  if (time == sched::kForever) {
    throw InputError(fmt::format("{}: {} is too long; expected less", what, text));
  }
  return time;
}

bool parse_whole_lane(std::string_view text, std::string_view what) {
  if (text == "op") return false;
  if (text == "lane") return true;
  throw InputError(
      fmt::format("{}: {} can not be delayed; expected op or lane", what, in_quotes(text)));
}

double parse_slowdown(std::string_view text, std::string_view what) {
  const auto slowdown = base::whole_number<double>(text);
  if (slowdown && std::isfinite(*slowdown) && *slowdown >= 1) return *slowdown;
  throw InputError(
      fmt::format("{}: {} is no slowdown; expected a number of at least 1", what, in_quotes(text)));
}

sched::PartsPerMillion parse_chance(std::string_view text, std::string_view what) {
  const bool percent = text.ends_with('%');
  const auto number = base::whole_number<double>(percent ? text.substr(0, text.size() - 1) : text);
  const double parts = number.value_or(-1) * (percent ? 1e4 : 1e6);
  if (!(parts >= 0 && parts <= 1e6)) {
    throw InputError(fmt::format(
        "{}: {} is no chance; expected a number from 0 to 1, or a percentage such as 1%", what,
        in_quotes(text)));
  }
  const sched::PartsPerMillion rounded{static_cast<std::uint32_t>(parts + 0.5)};
  if (parts > 0 && rounded.value == 0) {
    throw InputError(fmt::format("{}: {} is too small a chance; expected 0, or one in a million",
                                 what, in_quotes(text)));
  }
  return rounded;
}

std::string_view name(Kind kind) { return named(kind).name; }

Kind parse_distribution_kind(std::string_view text, std::string_view what) {
  std::vector<std::string_view> names;
  for (const NamedKind& entry : kKinds) {
    if (entry.name == text) return entry.kind;
    names.push_back(entry.name);
  }
  throw InputError(fmt::format(
      "{}: {} is no distribution{}; expected constant, uniform, exponential, lognormal or trace",
      what, in_quotes(text), sched::did_you_mean(text, names)));
}

std::span<const DistributionParameter> parameters(Kind kind) { return named(kind).parameters; }

std::vector<Time> parse_times(std::string_view text, std::string_view file) {
  constexpr std::size_t kLongestTime = 64;
  std::vector<Time> times;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view whole = base::take_item(text, '\n');
    const std::string_view time = base::trimmed(whole.substr(0, whole.find('#')));
    if (time.empty()) continue;
    const std::string where = fmt::format("{}:{}", file, line);
    require_plain(time, where);
    if (time.size() > kLongestTime) {
      throw InputError(fmt::format("{}: {} is not a time: expected one such as 1.5us on each line",
                                   where, in_quotes(time)));
    }
    times.push_back(parse_finite_time(time, where));
  }
  return times;
}

std::vector<Time> load_times(const std::string& path, std::string_view what) {
  return parse_times(
      read_input_file(path, fmt::format("{}: noise", what), "a file of times, one on each line"),
      path);
}

}  // namespace slackline::machine
