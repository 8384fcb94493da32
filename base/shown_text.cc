#include "base/shown_text.h"

#include <algorithm>

#include "base/append.h"

namespace slackline::sched {
namespace {

struct Character {
  std::size_t bytes = 1;
  char32_t code = 0;
  bool valid = false;  // UTF-8; otherwise it is one byte
};

// The first character of a text that is not empty. Forms longer than they need to be, surrogates
// and what is beyond Unicode are not valid.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return {};
  return {bytes, code, true};
}

// What a terminal obeys rather than shows, or what makes text look other than it is.
bool is_command(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
         code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

bool is_layout(char c) { return c == '\n' || c == '\t'; }

// Nothing but printable ASCII and layout, which most text is.
bool is_plain(std::string_view text, bool lines) {
  return std::all_of(text.begin(), text.end(),
                     [lines](char c) { return (c >= ' ' && c <= '~') || (lines && is_layout(c)); });
}

// Adds the characters of `text` as they are shown, at most `most` of them, and removes them from
// it.
void take(std::string& out, std::string_view& text, std::size_t most, bool lines) {
  for (; most > 0 && !text.empty(); --most) {
    const Character next = first_character(text);
    const bool command = next.valid && is_command(next.code) && !(lines && is_layout(text[0]));
    if (!next.valid || (command && next.code < 0x80)) {
      append(out, "\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (command) {
      append(out, "\\u{:04x}", static_cast<unsigned>(next.code));
    } else {
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
}

std::string whole(std::string_view text, bool lines) {
  if (is_plain(text, lines)) return std::string(text);
  std::string out;
  take(out, text, kWhole, lines);
  return out;
}

}  // namespace

std::string shown(std::string_view text, std::size_t most) {
  if (most == kWhole) return whole(text, false);
  std::string out;
  take(out, text, most, false);
  return text.empty() ? out : out + "…";
}

std::string shown_lines(std::string_view text) { return whole(text, true); }

std::string shown_ends(std::string_view text, std::size_t most) {
  const std::size_t last = most / 4;
  std::string_view left = text;
  std::string out;
  take(out, left, most - last, false);
  const auto characters = [](std::string_view of, std::size_t enough) {
    std::size_t count = 0;
    for (; !of.empty() && count < enough; ++count) of.remove_prefix(first_character(of).bytes);
    return count;
  };
  if (characters(left, last + 1) <= last) {
    take(out, left, kWhole, false);
    return out;
  }
  // Back from the end by characters: what continues one is never its first byte.
  std::size_t begin = left.size();
  for (std::size_t kept = 0; kept < last && begin > 0; ++kept) {
    --begin;
    for (int more = 0; more < 3 && begin > 0 && (static_cast<unsigned char>(left[begin]) >> 6) == 2;
         ++more) {
      --begin;
    }
  }
  left.remove_prefix(begin);
  out += " … ";
  take(out, left, kWhole, false);
  return out;
}

}  // namespace slackline::sched
