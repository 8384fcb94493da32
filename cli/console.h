// What the program says: the answer on standard output, in one piece at the end, and the rest on
// standard error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace slackline::cli {

/// Terminals that do not show UTF-8 get ASCII, as base/ascii_text.h has it; files and pipes the
/// same bytes everywhere.
class Console {
 public:
  explicit Console(int out = 1, int err = 2);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// What people read, as sched::shown_lines() has it: names in it may be anybody's. Kept until
  /// finish(), so that an error leaves nothing half-written.
  void print(std::string_view text);
  /// What programs read: byte for byte, but on a terminal as print() has it.
  void print_contents(std::string_view contents);
  /// One line to standard error, "slackline: note: …", with the answer: an error stands alone.
  void note(std::string_view line);
  /// What ends the program, as one line: "slackline: …", as sched::shown_ends() has it.
  void error(std::string_view message);
  /// What goes on just now ("simulating"), on a line that the next one replaces. Shown on terminals
  /// only, and never wider than they are.
  void phase(std::string_view what);
  /// The same with how much of it is done, as a bar.
  void progress(std::string_view what, std::uint64_t done, std::uint64_t of);
  /// Takes away what phase() or progress() shows, here or in a fork of this process.
  void clear();
  /// Writes what was printed. A reader that went away is no error. Throws InputError on others.
  void finish();

 private:
  void show_phase(std::string_view line);
  std::string for_err(std::string text) const;
  void clear_phase();
  // Columns of the terminal; a common number where it does not say.
  std::size_t width() const;

  int out_;
  int err_;
  bool terminal_;  // is what err_ is
  bool ascii_;     // is what terminals show
  bool phase_shown_ = false;
  std::string notes_;
  std::string text_;
};

}  // namespace slackline::cli
