// Parts of the text form's lines that stand by themselves.
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/text_scan.h"
#include "sched/op.h"

namespace slackline::sched {

/// Which words a line has had: each may come once.
class Once {
 public:
  bool operator()(unsigned bit) { return !(std::exchange(seen_, seen_ | 1u << bit) >> bit & 1u); }

 private:
  unsigned seen_ = 0;
};

/// Throws if the line has had `keyword`, whose number is `bit`, already.
void once(const TextScanner& in, Once& seen, unsigned bit, std::string_view keyword);

/// The value of the next word by its name, or an error that says what was expected.
template <class Enum>
Enum named(TextScanner& in, std::optional<Enum> (*find)(std::string_view),
           std::string_view expected) {
  const std::string_view text = in.word(expected);
  const std::optional<Enum> value = find(text);
  if (!value) in.fail(fmt::format("{} is not known; expected {}", in_quotes(text), expected));
  return *value;
}

/// What may stand on a line: a keyword, and what reads its value.
template <class Read>
struct Attribute {
  std::string_view keyword;
  Read read;
};
template <class Read>
Attribute(std::string_view, Read) -> Attribute<Read>;

/// Throws: `word` is none of the keywords.
[[noreturn]] void fail_unknown(const TextScanner& in, std::string_view word,
                               std::span<const std::string_view> keywords);

/// What is left of a line: attributes in any order, each at most once. `what`: "a keyword".
template <class... Reads>
void read_attributes(TextScanner& in, std::string_view what,
                     const Attribute<Reads>&... attributes) {
  Once seen;
  while (!in.at_end()) {
    const std::string_view word = in.word(what);
    unsigned bit = 0;
    const auto take = [&](const auto& attribute) {
      if (attribute.keyword == word) {
        once(in, seen, bit, word);
        attribute.read();
        return true;
      }
      ++bit;
      return false;
    };
    if ((take(attributes) || ...)) continue;
    fail_unknown(in, word, std::array{attributes.keyword...});
  }
}

/// A text between quotation marks, as write_text() writes the title.
std::string read_title(TextScanner& in);
void append_title(std::string& out, std::string_view title);

/// What is left of a channel's or a region's line.
void read_channel_attributes(TextScanner& in, Channel& channel);
void read_region_attributes(TextScanner& in, Region& region);

}  // namespace slackline::sched
