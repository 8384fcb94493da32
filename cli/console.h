// What the program says: the answer on standard output, in one piece at the end, and the rest on
// standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slackline::cli {

class Console {
 public:
  explicit Console(int out = 1, int err = 2);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Kept until finish(), so that an error leaves nothing half-written.
  void print(std::string_view text) { text_ += text; }
  /// One line to standard error, "slackline: note: …", with the answer: an error stands alone.
  void note(std::string_view line);
  /// What ends the program, as one line: "slackline: …". Control characters are written as \xNN.
  void error(std::string_view message);
  /// What goes on just now ("simulating"), on a line that the next one replaces. Shown on terminals
  /// only.
  void phase(std::string_view what);
  /// The same with how much of it is done, as a bar.
  void progress(std::string_view what, std::uint64_t done, std::uint64_t of);
  /// Writes what was printed. A reader that went away is no error. Throws InputError on others.
  void finish();

 private:
  void clear_phase();

  int out_;
  int err_;
  bool terminal_;
  bool phase_shown_ = false;
  std::string notes_;
  std::string text_;
};

}  // namespace slackline::cli
