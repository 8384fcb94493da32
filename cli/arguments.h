// The arguments of one command: what it takes, and reading them. The only file pair that knows the
// argument library. A value is a text, or what one of the readers of base/units.h makes of it.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace slackline::cli {

class Arguments {
 public:
  Arguments(std::string_view command, std::string_view summary);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  /// An argument by its place, which must be there unless `needed` is false. What is passed by
  /// reference here and below is written by parse().
  void positional(std::string_view name, std::string& value, std::string_view help,
                  bool needed = true);
  /// `names` is "--output" or "-o,--output".
  void option(std::string_view names, std::string_view value_name,
              std::optional<std::string>& value, std::string_view help);
  /// An option that is read as it is parsed: `read` gets its text and the option's long name, and
  /// throws InputError.
  template <class Value, class Read>
  requires std::invocable<const Read&, const std::string&, const std::string&>
  void option(std::string_view names, std::string_view value_name, std::optional<Value>& value,
              std::string_view help, const Read& read) {
    add_option(names, value_name, help,
               [&value, read](const std::string& text, const std::string& name) {
                 value = read(text, name);
               });
  }
  /// A whole number from `low` to `high`.
  template <std::unsigned_integral Number>
  void number(std::string_view names, std::string_view value_name, std::optional<Number>& value,
              std::string_view help, std::uint64_t low,
              std::uint64_t high = std::numeric_limits<Number>::max()) {
    option(names, value_name, value, help, [=](const std::string& text, const std::string& name) {
      return static_cast<Number>(sched::parse_count(text, name, low, high));
    });
  }
  /// One of `choices`, "polling|interrupt", of which `find` gives the value.
  template <class Choice>
  void choice(std::string_view names, std::string_view value_name, std::optional<Choice>& value,
              std::string_view help, std::optional<Choice> (*find)(std::string_view),
              std::string_view choices) {
    option(names, value_name, value, help,
           [find, known = std::string(choices)](const std::string& text, const std::string& name) {
             const std::optional<Choice> found = find(text);
             if (!found) throw_no_choice(text, name, known);
             return *found;
           });
  }
  /// The same, which --help shows as they are.
  template <class Choice>
  void choice(std::string_view names, std::string_view choices, std::optional<Choice>& value,
              std::string_view help, std::optional<Choice> (*find)(std::string_view)) {
    choice(names, choices, value, help, find, choices);
  }
  /// An option that names a file to write, or "-". parse() throws InputError if it cannot be
  /// written: before the work and not after.
  void output(std::string_view names, std::optional<std::string>& value, std::string_view help);
  /// The same of a command whose answer is on standard output: "-" is refused.
  void file(std::string_view names, std::optional<std::string>& value, std::string_view help);
  /// The same of a drawing, which is SVG: names that other pictures have are refused, too.
  void drawing(std::string_view names, std::optional<std::string>& value, std::string_view help);
  /// The same as option(), any number of times.
  void repeatable(std::string_view names, std::string_view value_name,
                  std::vector<std::string>& values, std::string_view help);
  void flag(std::string_view names, bool& value, std::string_view help);
  /// The options that are declared from here on stand under this heading of --help, which is
  /// letters and blanks. Empty: under "Options", the first one.
  void section(std::string_view heading);
  /// None of `these` may stand beside any of `those`: then parse() throws InputError. Long names.
  /// `why` stands in the error, if it is not empty: what of `those` does not go with `these`.
  void excludes(std::vector<std::string> these, std::vector<std::string> those,
                std::string why = "");
  /// What stands behind `--`, which is another command's.
  void rest(std::string_view name, std::vector<std::string>& words);
  /// All that parse() is given, with the command's name before it: for what passes it on.
  void whole_line(std::vector<std::string>& line);
  /// A command line that `--help` shows, without the program's name.
  void example(std::string_view arguments);

  /// Reads the arguments after the command's name. Returns the help text, of lines of up to 80
  /// columns where words allow it, if that was asked for.
  /// Throws InputError, of one line, on what the command does not take.
  std::optional<std::string> parse(const std::vector<std::string>& arguments);

 private:
  struct Parser;
  using Take = std::function<void(const std::string& text, const std::string& long_name)>;
  void add_option(std::string_view names, std::string_view value_name, std::string_view help,
                  const Take& take);
  [[noreturn]] static void throw_no_choice(const std::string& text, const std::string& name,
                                           std::string choices);

  std::unique_ptr<Parser> parser_;
};

}  // namespace slackline::cli
