#include "base/text_scan.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"

namespace slackline::sched {
namespace {

constexpr std::size_t kLongestTime = 40;  // characters

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

std::string in_quotes(std::string_view text, std::size_t most) {
  return fmt::format("'{}'", shown(text, most));
}

bool take_number(std::string_view& text, std::uint64_t& value) {
  std::size_t i = 0;
  std::uint64_t result = 0;
  for (; i < text.size(); ++i) {
    const auto digit = static_cast<unsigned>(text[i]) - unsigned{'0'};
    if (digit > 9) break;
    if (i >= 19 && (__builtin_mul_overflow(result, std::uint64_t{10}, &result) ||
                    __builtin_add_overflow(result, digit, &result))) {
      return false;
    }
    if (i < 19) result = result * 10 + digit;  // 19 digits always fit
  }
  if (i == 0) return false;
  text.remove_prefix(i);
  value = result;
  return true;
}

bool take_bytes(std::string_view& text, std::uint64_t& value) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 7> kUnits = {
      {{"KiB", 1ull << 10},
       {"MiB", 1ull << 20},
       {"GiB", 1ull << 30},
       {"KB", 1'000},
       {"MB", 1'000'000},
       {"GB", 1'000'000'000},
       {"B", 1}}};
  std::string_view left = text;
  std::uint64_t result = 0;
  if (!take_number(left, result)) return false;
  if (!left.empty() && left.front() >= 'A' && left.front() <= 'Z') {
    for (const auto& [unit, scale] : kUnits) {
      if (!left.starts_with(unit)) continue;
      if (__builtin_mul_overflow(result, scale, &result)) return false;
      left.remove_prefix(unit.size());
      break;
    }
  }
  text = left;
  value = result;
  return true;
}

TextScanner::TextScanner(std::string_view text, std::string_view file)
    : file_(file),
      cursor_(text.data()),
      line_end_(text.data()),
      next_(text.data()),
      end_(text.data() + text.size()) {}

bool TextScanner::next_line() {
  while (next_ != end_) {
    ++line_;
    cursor_ = next_;
    const void* newline = std::memchr(cursor_, '\n', static_cast<std::size_t>(end_ - cursor_));
    line_end_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
    next_ = newline == nullptr ? end_ : line_end_ + 1;
    if (!at_end()) return true;
  }
  cursor_ = line_end_ = end_;
  return false;
}

bool TextScanner::at_end() {
  while (cursor_ != line_end_ && is_blank(*cursor_)) ++cursor_;
  return cursor_ == line_end_ || *cursor_ == '#';
}

std::string_view TextScanner::peek() {
  if (at_end()) return {};
  const char* stop = cursor_;
  while (stop != line_end_ && !is_blank(*stop)) ++stop;
  return {cursor_, static_cast<std::size_t>(stop - cursor_)};
}

std::string_view TextScanner::word(std::string_view expected) {
  const std::string_view found = peek();
  if (found.empty()) fail(fmt::format("the line ends too early; expected {}", expected));
  cursor_ += found.size();
  return found;
}

std::string_view TextScanner::rest() {
  while (cursor_ != line_end_ && is_blank(*cursor_)) ++cursor_;
  const std::string_view left(cursor_, static_cast<std::size_t>(line_end_ - cursor_));
  cursor_ = line_end_;
  return left;
}

std::uint64_t TextScanner::number(std::string_view what, std::uint64_t high) {
  const std::string_view text = word(what);
  std::string_view left = text;
  std::uint64_t value = 0;
  if (!take_number(left, value) || !left.empty() || value > high) {
    fail(fmt::format("{}: {} does not fit; expected a whole number from 0 to {}", what,
                     in_quotes(text), high));
  }
  return value;
}

std::uint64_t TextScanner::bytes(std::string_view what) {
  const std::string_view text = word(what);
  std::string_view left = text;
  std::uint64_t value = 0;
  if (!take_bytes(left, value) || !left.empty()) {
    fail(
        fmt::format("{}: {} is not a size; expected bytes, alone or with B, KB, MB, GB, KiB, "
                    "MiB or GiB, such as 4096 or 1MiB",
                    what, in_quotes(text)));
  }
  return value;
}

Time TextScanner::time(std::string_view what) {
  const std::string_view text = word(what);
  if (text == "forever") return kForever;
  try {
    if (text.size() <= kLongestTime) return parse_time(text, what);
  } catch (const InputError&) {
  }
  fail(fmt::format("{}: {} is not a time; expected a number with ps, ns, us, ms or s, or 'forever'",
                   what, in_quotes(text)));
}

void TextScanner::expect(std::string_view text) {
  if (peek() != text) {
    const std::string expected = fmt::format("'{}'", text);
    const std::string_view found = word(expected);
    fail(fmt::format("{} is out of place; expected {}", in_quotes(found), expected));
  }
  cursor_ += text.size();
}

void TextScanner::expect_end() {
  if (!at_end())
    fail(fmt::format("{} is out of place; expected the end of the line", in_quotes(peek())));
}

void TextScanner::fail_at(std::uint32_t line, std::string_view message) const {
  throw InputError(fmt::format("{}:{}: {}", file_, line, message));
}

}  // namespace slackline::sched
