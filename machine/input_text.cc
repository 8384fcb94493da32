#include "machine/input_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text_scan.h"

namespace slackline::machine {
namespace {

constexpr std::size_t kMaxQuoted = 80;  // characters

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

std::string in_quotes(std::string_view text) { return sched::in_quotes(text, kMaxQuoted); }

void require_plain(std::string_view text, std::string_view where) {
  if (std::any_of(text.begin(), text.end(), is_control)) {
    throw InputError(
        fmt::format("{}: {} has a control character; expected plain text", where, in_quotes(text)));
  }
}

std::string parse_path(std::string_view text, std::string_view what) {
  constexpr std::size_t kLongest = 4096;
  if (text.empty() || text.size() > kLongest || text.find(',') != std::string_view::npos) {
    throw InputError(fmt::format("{}: {} is no path; expected a file's path without commas", what,
                                 in_quotes(text)));
  }
  return std::string(text);
}

std::string read_input_file(const std::string& path, std::string_view what,
                            std::string_view expected, std::size_t max_bytes) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  // In pieces with a bound, since a path may name a device that never ends.
  while (in && text.size() <= max_bytes) {
    const std::size_t before = text.size();
    text.resize(before + (std::size_t{1} << 16));
    in.read(text.data() + before, static_cast<std::streamsize>(text.size() - before));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
  }
  if (!in.eof() && text.size() <= max_bytes) {
    throw InputError(
        fmt::format("{} file {}: cannot be read; expected {}", what, in_quotes(path), expected));
  }
  if (text.size() > max_bytes) {
    throw InputError(fmt::format("{} file {}: more than {} MiB; expected {}", what, in_quotes(path),
                                 max_bytes >> 20, expected));
  }
  sched::drop_mark(text, fmt::format("{} file {}", what, in_quotes(path)));
  return text;
}

}  // namespace slackline::machine
