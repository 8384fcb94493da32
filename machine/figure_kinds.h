// Figures of a platform by their kind: a kind says how its values are read and written, wherever in
// a platform they stand.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/units.h"
#include "machine/delay_values.h"
#include "machine/platform.h"
#include "machine/platform_figures.h"

namespace slackline::machine {

/// Each kind has what it expects, what a file may write it as, `read`, which throws InputError
/// naming `what`, and `write`.
struct TimeFigure {
  static constexpr std::string_view kExpected = "a time such as \"1.5us\"";
  static constexpr FigureForm kForm = FigureForm::kText;
  static Time read(std::string_view text, std::string_view what) {
    return parse_finite_time(text, what);
  }
  static std::string write(Time time) { return sched::format_time(time); }
};

struct RateFigure {
  static constexpr std::string_view kExpected = "a rate such as \"100Gbps\"";
  static constexpr FigureForm kForm = FigureForm::kText;
  static Rate read(std::string_view text, std::string_view what) {
    return sched::parse_rate(text, what);
  }
  static std::string write(Rate rate) { return sched::format_rate(rate); }
};

/// A whole number from 1 to `most`.
template <std::uint32_t most>
struct CountFigure {
  static constexpr std::string_view kExpected = "a whole number such as 16";
  static constexpr FigureForm kForm = FigureForm::kWhole;
  static std::uint32_t read(std::string_view text, std::string_view what) {
    return static_cast<std::uint32_t>(sched::parse_count(text, what, 1, most));
  }
  static std::string write(std::uint32_t count) { return std::to_string(count); }
};

/// What two functions read and write. Its figures say themselves what they expect.
template <auto reader, auto writer>
struct FigureBy {
  static constexpr FigureForm kForm = FigureForm::kText;
  static auto read(std::string_view text, std::string_view what) { return reader(text, what); }
  static std::string write(const auto& value) { return std::string(writer(value)); }
};

/// What stands at the end of a path of members, or of functions of an object, from `object`.
template <auto step, auto... steps>
constexpr auto& value_at(auto& object) {
  if constexpr (sizeof...(steps) == 0) {
    return std::invoke(step, object);
  } else {
    return value_at<steps...>(std::invoke(step, object));
  }
}

/// Reads what stands at the end of a path from a Platform.
template <class Kind, auto... path>
void set_figure(Platform& platform, std::string_view text, std::string_view what) {
  auto& value = value_at<path...>(platform);
  value = static_cast<std::remove_reference_t<decltype(value)>>(Kind::read(text, what));
}

/// Writes it.
template <class Kind, auto... path>
std::string get_figure(const Platform& platform) {
  return Kind::write(value_at<path...>(platform));
}

/// Writes it where it is not as in Platform{}; empty elsewhere. A std::optional is empty there.
template <class Kind, auto... path>
std::string get_rare_figure(const Platform& platform) {
  const auto& value = value_at<path...>(platform);
  if constexpr (requires { value.has_value(); }) {
    return value ? Kind::write(*value) : std::string();
  } else {
    const Platform plain;
    return value == value_at<path...>(plain) ? std::string() : Kind::write(value);
  }
}

/// The figure at the end of a path; it has the same key in a file.
template <class Kind, auto... path>
constexpr PlatformFigure figure(std::string_view key, std::string_view section,
                                std::string_view expected = Kind::kExpected,
                                std::string (*get)(const Platform&) = get_figure<Kind, path...>) {
  return {key, section, key, expected, set_figure<Kind, path...>, get, Kind::kForm};
}

/// One that is written only where it is not as in Platform{}.
template <class Kind, auto... path>
constexpr PlatformFigure rare(std::string_view key, std::string_view section,
                              std::string_view expected = Kind::kExpected) {
  return figure<Kind, path...>(key, section, expected, get_rare_figure<Kind, path...>);
}

}  // namespace slackline::machine
