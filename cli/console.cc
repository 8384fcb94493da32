#include "cli/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/ascii_text.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "base/write_all.h"
#include "cli/table.h"

namespace slackline::cli {
namespace {

// More than any error of ours has; what quotes a file's line could have as much as the file.
constexpr std::size_t kLongestLine = 4000;

}  // namespace

Console::Console(int out, int err)
    : out_(out), err_(err), terminal_(::isatty(err) == 1), ascii_(!base::shows_utf8()) {}

Console::~Console() { clear_phase(); }

void Console::note(std::string_view line) {
  notes_ += fmt::format("slackline: note: {}\n", sched::shown_ends(line, kLongestLine));
}

void Console::error(std::string_view message) {
  clear_phase();
  base::write_all(
      err_, for_err(fmt::format("slackline: {}\n", sched::shown_ends(message, kLongestLine))));
}

void Console::print(std::string_view text) { text_ += sched::shown_lines(text); }

void Console::print_contents(std::string_view contents) {
  if (::isatty(out_) == 1) {
    print(contents);
  } else {
    text_ += contents;
  }
}

void Console::phase(std::string_view what) { show_phase(fmt::format("{}…", what)); }

void Console::progress(std::string_view what, std::uint64_t done, std::uint64_t of) {
  if (!terminal_ || of == 0) return;
  constexpr std::uint64_t kWidth = 30;
  const auto full = static_cast<std::size_t>(std::min(done, of) * kWidth / of);
  const std::string line =
      fmt::format("{} [{:=<{}}{:{}}] {} of {}", what, "", full, "", kWidth - full, done, of);
  show_phase(display_width(line) < width() ? line : fmt::format("{} {} of {}", what, done, of));
}

// A line that fills the last column or wraps is not taken back by what clears it.
void Console::show_phase(std::string_view line) {
  if (!terminal_) return;
  clear_phase();
  const std::size_t columns = width();
  std::string whole = for_err(sched::shown(line));
  if (display_width(whole) >= columns) {
    const std::size_t more = ascii_ ? 4 : 2;  // what stands for the rest, and a column
    whole = columns < more ? "" : for_err(sched::shown(whole, columns - more));
  }
  base::write_all(err_, whole);
  phase_shown_ = true;
}

std::size_t Console::width() const {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  return ::ioctl(err_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

std::string Console::for_err(std::string text) const {
  return terminal_ && ascii_ ? base::ascii_text(text) : text;
}

void Console::clear() {
  phase_shown_ = terminal_;
  clear_phase();
}

void Console::clear_phase() {
  if (!phase_shown_) return;
  base::write_all(err_, "\r\x1b[K");
  phase_shown_ = false;
}

void Console::finish() {
  clear_phase();
  const bool plain = ascii_ && ::isatty(out_) == 1;
  const int error = base::write_all(out_, plain ? base::ascii_text(text_) : text_);
  text_.clear();
  if (error == 0) base::write_all(err_, for_err(notes_));
  notes_.clear();
  if (error != 0 && error != EPIPE) {
    throw InputError(fmt::format("standard output cannot be written: {}", std::strerror(error)));
  }
}

}  // namespace slackline::cli
