// Reads line-oriented text word by word, with the line number for errors. Words are separated by
// blanks; `#` where a word may start opens a comment to the end of the line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/units.h"

namespace slackline::sched {

/// 'text' as shown() has it, of which no more than `most` characters.
std::string in_quotes(std::string_view text, std::size_t most = 40);

/// Takes a decimal number off the front of `text`; false, with `text` untouched, if there is none
/// or it does not fit 64 bits.
bool take_number(std::string_view& text, std::uint64_t& value);

/// As take_number, with an optional KiB, MiB, GiB, KB, MB, GB or B behind it.
bool take_bytes(std::string_view& text, std::uint64_t& value);

class TextScanner {
 public:
  /// Both views must outlive the scanner. `file` is what errors name.
  TextScanner(std::string_view text, std::string_view file);

  /// Goes to the next line that holds a word; false at the end of the text.
  bool next_line();
  std::uint32_t line() const { return line_; }
  std::string_view file() const { return file_; }

  /// Whether the line has no further word.
  bool at_end();
  /// The next word, which stays; empty at the end of the line.
  std::string_view peek();
  /// The next word; throws, naming `expected`, at the end of the line.
  std::string_view word(std::string_view expected);
  /// What is left of the line, comments included.
  std::string_view rest();

  /// A whole number in [0, high].
  std::uint64_t number(std::string_view what, std::uint64_t high);
  std::uint32_t number32(std::string_view what, std::uint32_t high = 0xffffffffu) {
    return static_cast<std::uint32_t>(number(what, high));
  }
  std::uint64_t bytes(std::string_view what);
  /// A time as format_time() writes it.
  Time time(std::string_view what);
  /// Throws unless the next word is `text`.
  void expect(std::string_view text);
  /// Throws unless the line is at its end.
  void expect_end();

  /// Throws InputError: "file:line: message".
  [[noreturn]] void fail(std::string_view message) const { fail_at(line_, message); }
  [[noreturn]] void fail_at(std::uint32_t line, std::string_view message) const;

 private:
  std::string_view file_;
  const char* cursor_;
  const char* line_end_;
  const char* next_;  // the line after this one
  const char* end_;
  std::uint32_t line_ = 0;
};

}  // namespace slackline::sched
