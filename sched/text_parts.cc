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

void read_channel_attributes(TextScanner& in, Channel& c) {
  Once seen;
  while (!in.at_end()) {
    const std::string_view keyword = in.word("a keyword");
    if (keyword == "service") {
      once(in, seen, 0, keyword);
      c.service = named(in, service_named, "rc, ud or eager");
    } else if (keyword == "window") {
      once(in, seen, 1, keyword);
      c.window = in.number32(keyword);
    } else if (keyword == "credit_on") {
      once(in, seen, 2, keyword);
      c.credit_on = ChannelId(in.number32(keyword, 0xfffffffeu));
    } else if (keyword == "credit_batch") {
      once(in, seen, 3, keyword);
      c.credit_batch = in.number32(keyword);
    } else if (keyword == "bundle") {
      once(in, seen, 4, keyword);
      c.bundle = named(in, bundle_named, "none, trad or ovfl");
    } else if (keyword == "bundle_bytes") {
      once(in, seen, 5, keyword);
      c.bundle_bytes = in.bytes(keyword);
    } else if (keyword == "bundle_delay") {
      once(in, seen, 6, keyword);
      c.bundle_delay = in.time(keyword);
    } else {
      in.fail(
          fmt::format("{} is not known; expected service, window, credit_on, credit_batch, "
                      "bundle, bundle_bytes or bundle_delay",
                      in_quotes(keyword)));
    }
  }
}

void read_region_attributes(TextScanner& in, Region& r) {
  Once seen;
  while (!in.at_end()) {
    const std::string_view keyword = in.word("a keyword");
    if (keyword == "attempts") {
      once(in, seen, 0, keyword);
      r.max_attempts = in.number32(keyword);
    } else if (keyword == "p") {
      once(in, seen, 1, keyword);
      r.p.value = in.number32(keyword, 1'000'000);
    } else if (keyword == "outcome") {
      once(in, seen, 2, keyword);
      r.outcome = named(in, outcome_named, "sampled or actual");
    } else if (keyword == "backoff") {
      once(in, seen, 3, keyword);
      r.backoff = in.time(keyword);
    } else {
      in.fail(fmt::format("{} is not known; expected attempts, p, outcome or backoff",
                          in_quotes(keyword)));
    }
  }
}

}  // namespace slackline::sched
