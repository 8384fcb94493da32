// An option of specs: what it is called, which values it takes, what they mean, and how its value
// is read and written. Patterns list theirs (pattern.h); the parser, the formatter and `list
// options` go by these lists and know no option by its name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/units.h"
#include "sched/pattern/spec.h"

namespace slackline::sched {

struct Option {
  std::string_view key;
  /// For people, such as "1 or more"; of a choice the names of its values, as "send|put".
  std::string_view values;
  std::string_view meaning;  // for people
  /// Throws InputError, naming the key, on a value out of range.
  void (*read)(const Option& option, std::string_view text, Spec& spec) = nullptr;
  /// The same text for all that is the same; empty if there is nothing to write.
  std::string (*write)(const Option& option, const Spec& spec) = nullptr;
  std::uint64_t low = 0;  // the range of numbers
  std::uint64_t high = 0;
  std::string_view example = {};    // of a value; not empty: one must be given
  std::string_view otherwise = {};  // for people: what a value that is not given stands for

  constexpr Option required(std::string_view value) const {
    Option option = *this;
    option.example = value;
    return option;
  }
  constexpr Option or_else(std::string_view words) const {
    Option option = *this;
    option.otherwise = words;
    return option;
  }

  /// What it means, and its default.
  std::string explained() const;
};

/// Beyond this a count is refused, where its option says nothing else.
inline constexpr std::uint64_t kMostCount = 1ull << 31;
inline constexpr std::uint64_t kAnyNumber = ~std::uint64_t{0};
/// In picoseconds; times may be bound by it.
inline constexpr std::uint64_t kHour = 3'600'000'000'000'000;

/// How values of a kind are read and written: whole numbers, sizes, times, the place of a name
/// among those of a choice, any text. Reading throws InputError beyond the option's range.
struct NumberText {
  static std::uint64_t read(const Option& option, std::string_view text);
  static std::string write(const Option& option, std::uint64_t value);
};
struct SizeText {
  static std::uint64_t read(const Option& option, std::string_view text);
  static std::string write(const Option& option, std::uint64_t value);
};
struct TimeText {
  static Time read(const Option& option, std::string_view text);
  static std::string write(const Option& option, Time value);
};
struct ChoiceText {
  static std::size_t read(const Option& option, std::string_view text);
  static std::string write(const Option& option, std::size_t value);
};
struct AnyText {
  static std::string_view read(const Option&, std::string_view text) { return text; }
  static std::string write(const Option&, std::string_view value) { return std::string(value); }
};

/// The name of a choice's value among "send|put".
std::string_view choice_name(std::string_view values, std::size_t value);

template <class Struct>
auto& member_of(Struct& value) {
  return value;
}
template <class Struct, class Member, class... More>
auto& member_of(Struct& value, Member member, More... more) {
  return member_of(value.*member, more...);
}

/// Where an option's value stands: a member of Spec or of one of its members'
/// (Place<&Spec::credits, &CreditOptions::window>), or a member of a struct of the pattern's own
/// (Place<&Mine::size>).
template <auto first, auto... rest>
struct Place {
  template <class Struct, class Value>
  static Struct struct_of(Value Struct::*);
  using Struct = decltype(struct_of(first));

  static const auto& get(const Spec& spec) {
    if constexpr (std::is_same_v<Struct, Spec>) {
      return member_of(spec, first, rest...);
    } else {
      return member_of(spec.own<Struct>(), first, rest...);
    }
  }
  static auto& edit(Spec& spec) {
    if constexpr (std::is_same_v<Struct, Spec>) {
      return member_of(spec, first, rest...);
    } else {
      return member_of(spec.edit_own<Struct>(), first, rest...);
    }
  }
};

/// An option whose value stands at such a place.
template <class Text, auto... place>
constexpr Option placed_option(std::string_view key, std::string_view values,
                               std::string_view meaning, std::uint64_t low = 0,
                               std::uint64_t high = kAnyNumber) {
  return {key,
          values,
          meaning,
          [](const Option& option, std::string_view text, Spec& spec) {
            auto& value = Place<place...>::edit(spec);
            value = static_cast<std::remove_reference_t<decltype(value)>>(Text::read(option, text));
          },
          [](const Option& option, const Spec& spec) {
            using Read = decltype(Text::read(option, {}));
            return Text::write(option, static_cast<Read>(Place<place...>::get(spec)));
          },
          low,
          high};
}
template <auto... place>
constexpr Option count_option(std::string_view key, std::string_view values,
                              std::string_view meaning, std::uint64_t low = 1,
                              std::uint64_t high = kMostCount) {
  return placed_option<NumberText, place...>(key, values, meaning, low, high);
}
template <auto... place>
constexpr Option size_option(std::string_view key, std::string_view values,
                             std::string_view meaning, std::uint64_t low = 0) {
  return placed_option<SizeText, place...>(key, values, meaning, low);
}
template <auto... place>
constexpr Option time_option(std::string_view key, std::string_view meaning,
                             std::uint64_t high = kAnyNumber) {
  return placed_option<TimeText, place...>(key, "a time, 0 or more", meaning, 0, high);
}
/// Of an enumeration or a bool: its values' names, in their order, are `values`.
template <auto... place>
constexpr Option choice_option(std::string_view key, std::string_view values,
                               std::string_view meaning) {
  return placed_option<ChoiceText, place...>(key, values, meaning);
}
template <auto... place>
constexpr Option text_option(std::string_view key, std::string_view values,
                             std::string_view meaning) {
  return placed_option<AnyText, place...>(key, values, meaning);
}

template <class>
inline constexpr std::size_t kOptionsIn = 1;
template <std::size_t n>
inline constexpr std::size_t kOptionsIn<std::array<Option, n>> = n;

/// One list of options and of lists of them.
template <class... Part>
constexpr auto option_list(const Part&... parts) {
  std::array<Option, (kOptionsIn<Part> + ...)> all{};
  std::size_t next = 0;
  const auto add = [&](const auto& part) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(part)>, Option>) {
      all[next++] = part;
    } else {
      for (const Option& option : part) all[next++] = option;
    }
  };
  (add(parts), ...);
  return all;
}

}  // namespace slackline::sched
