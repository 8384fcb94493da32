#include "sched/text_parts.h"

namespace slackline::sched {

void once(const TextScanner& in, Once& seen, unsigned bit, std::string_view keyword) {
  if (!seen(bit)) in.fail(fmt::format("'{}' is given twice", keyword));
}

void append_title(std::string& out, std::string_view title) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string read_title(TextScanner& in) {
  std::string_view left = in.rest();
  const auto bad = [&] { in.fail("title: expected a text between quotation marks"); };
  if (left.empty() || left.front() != '"') bad();
  left.remove_prefix(1);
  std::string title;
  for (;;) {
    if (left.empty()) bad();
    const char c = left.front();
    left.remove_prefix(1);
    if (c == '"') break;
    if (c != '\\') {
      title += c;
    } else if (!left.empty() && (left.front() == '"' || left.front() == '\\')) {
      title += left.front();
      left.remove_prefix(1);
    } else {
      const auto digit = [&](std::size_t at) {
        const std::size_t value = std::string_view("0123456789abcdef").find(left[at]);
        if (value == std::string_view::npos) bad();
        return value;
      };
      if (left.size() < 3 || left[0] != 'x') bad();
      title += static_cast<char>(digit(1) << 4 | digit(2));
      left.remove_prefix(3);
    }
  }
  const std::size_t after = left.find_first_not_of(" \t\r");
  if (after != std::string_view::npos && left[after] != '#') bad();
  return title;
}

void fail_unknown(const TextScanner& in, std::string_view word,
                  std::span<const std::string_view> keywords) {
  in.fail(fmt::format("{} is not known; expected {} or {}", in_quotes(word),
                      fmt::join(keywords.first(keywords.size() - 1), ", "), keywords.back()));
}

void read_channel_attributes(TextScanner& in, Channel& c) {
  read_attributes(
      in, "a keyword",
      Attribute{"service", [&] { c.service = named(in, service_named, "rc, ud or eager"); }},
      Attribute{"window", [&] { c.window = in.number32("window"); }},
      Attribute{"credit_on",
                [&] { c.credit_on = ChannelId(in.number32("credit_on", 0xfffffffeu)); }},
      Attribute{"credit_batch", [&] { c.credit_batch = in.number32("credit_batch"); }},
      Attribute{"bundle", [&] { c.bundle = named(in, bundle_named, "none, trad or ovfl"); }},
      Attribute{"bundle_bytes", [&] { c.bundle_bytes = in.bytes("bundle_bytes"); }},
      Attribute{"bundle_delay", [&] { c.bundle_delay = in.time("bundle_delay"); }});
}

void read_region_attributes(TextScanner& in, Region& r) {
  read_attributes(
      in, "a keyword", Attribute{"attempts", [&] { r.max_attempts = in.number32("attempts"); }},
      Attribute{"p", [&] { r.p.value = in.number32("p", 1'000'000); }},
      Attribute{"outcome", [&] { r.outcome = named(in, outcome_named, "sampled or actual"); }},
      Attribute{"backoff", [&] { r.backoff = in.time("backoff"); }});
}

}  // namespace slackline::sched
