#include "sched/pattern/option.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/split.h"

namespace slackline::sched {
namespace {

// The names of a choice's values.
std::vector<std::string_view> choice_names(std::string_view values) {
  return base::split(values, '|');
}

}  // namespace

std::string Option::explained() const {
  std::string standard(otherwise);
  if (!example.empty()) standard = "required";
  if (standard.empty()) standard = write(*this, Spec());
  return fmt::format("{}{}{}", meaning, standard.empty() ? "" : "; ", standard);
}

std::uint64_t NumberText::read(const Option& option, std::string_view text) {
  return parse_count(text, option.key, option.low, option.high);
}
std::string NumberText::write(const Option&, std::uint64_t value) { return std::to_string(value); }

std::uint64_t SizeText::read(const Option& option, std::string_view text) {
  const std::uint64_t bytes = parse_bytes(text, option.key);
  if (bytes >= option.low) return bytes;
  throw InputError(
      fmt::format("{}: {} bytes; expected at least {}", option.key, bytes, option.low));
}
std::string SizeText::write(const Option&, std::uint64_t value) { return format_bytes(value); }

Time TimeText::read(const Option& option, std::string_view text) {
  const Time time = parse_time(text, option.key);
  if (option.high == kHour && time > std::chrono::hours(1)) {
    throw InputError(fmt::format("{}: '{}'; expected at most an hour", option.key, text));
  }
  if (time < Time{0} || time == kForever) {
    throw InputError(fmt::format("{}: '{}'; expected a time of 0 or more", option.key, text));
  }
  return time;
}
std::string TimeText::write(const Option&, Time value) { return format_time(value); }

std::size_t ChoiceText::read(const Option& option, std::string_view text) {
  const std::vector<std::string_view> names = choice_names(option.values);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw InputError(
      fmt::format("{}: '{}'; expected {}", option.key, text, fmt::join(names, " or ")));
}
std::string ChoiceText::write(const Option& option, std::size_t value) {
  return std::string(choice_name(option.values, value));
}

std::string_view choice_name(std::string_view values, std::size_t value) {
  return choice_names(values)[value];
}

}  // namespace slackline::sched
