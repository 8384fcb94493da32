// The arguments of one command: what it takes, and reading them. The only file pair that knows the
// argument library; values are texts, which the commands read with the readers of base/units.h.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  /// An option that names a file to write, or "-". parse() throws InputError if it cannot be
  /// written: before the work and not after.
  void output(std::string_view names, std::optional<std::string>& value, std::string_view help);
  /// The same as option(), any number of times.
  void repeatable(std::string_view names, std::string_view value_name,
                  std::vector<std::string>& values, std::string_view help);
  void flag(std::string_view names, bool& value, std::string_view help);
  /// What stands behind `--`, which is another command's.
  void rest(std::string_view name, std::vector<std::string>& words);
  /// All that parse() is given, with the command's name before it: for what passes it on.
  void whole_line(std::vector<std::string>& line);
  /// A command line that `--help` shows, without the program's name.
  void example(std::string_view arguments);

  /// Reads the arguments after the command's name. Returns the help text if that was asked for.
  /// Throws InputError, of one line, on what the command does not take.
  std::optional<std::string> parse(const std::vector<std::string>& arguments);

 private:
  struct Parser;
  void add_option(std::string_view names, std::string_view value_name,
                  std::optional<std::string>& value, std::string_view help,
                  const std::function<void(const std::string&)>& check);

  std::unique_ptr<Parser> parser_;
};

}  // namespace slackline::cli
