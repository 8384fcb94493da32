#include "cli/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sched/error.h"

namespace slackline::cli {
namespace {

// The error number, or 0 when all is written.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace

Console::Console(int out, int err) : out_(out), err_(err), terminal_(::isatty(err) == 1) {}

Console::~Console() { clear_phase(); }

void Console::note(std::string_view line) {
  notes_ += fmt::format("slackline: note: {}\n", one_line(line));
}

void Console::error(std::string_view message) {
  clear_phase();
  write_all(err_, fmt::format("slackline: {}\n", one_line(message)));
}

void Console::phase(std::string_view what) {
  if (!terminal_) return;
  clear_phase();
  write_all(err_, fmt::format("{}…", what));
  phase_shown_ = true;
}

void Console::progress(std::string_view what, std::uint64_t done, std::uint64_t of) {
  if (!terminal_ || of == 0) return;
  constexpr std::uint64_t kWidth = 30;
  const auto full = static_cast<std::size_t>(std::min(done, of) * kWidth / of);
  clear_phase();
  write_all(err_,
            fmt::format("{} [{:=<{}}{:{}}] {} of {}", what, "", full, "", kWidth - full, done, of));
  phase_shown_ = true;
}

void Console::clear_phase() {
  if (!phase_shown_) return;
  write_all(err_, "\r\x1b[K");
  phase_shown_ = false;
}

void Console::finish() {
  clear_phase();
  const int error = write_all(out_, text_);
  text_.clear();
  if (error == 0) write_all(err_, notes_);
  notes_.clear();
  if (error != 0 && error != EPIPE) {
    throw InputError(fmt::format("standard output cannot be written: {}", std::strerror(error)));
  }
}

}  // namespace slackline::cli
