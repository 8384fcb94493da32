#include "base/xml_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text_scan.h"

namespace slackline::base {
namespace {

constexpr std::uint32_t kMostDepth = 32;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == ':';
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view file) : left_(text), file_(file) {}

  XmlElement document() {
    pass_over();
    XmlElement root = element(1);
    pass_over();
    if (!left_.empty()) fail("text behind the root element; expected the end");
    return root;
  }

  // At the name of the root, if there is one.
  std::string_view root() {
    pass_over();
    return accept("<") ? take_while(is_name) : std::string_view();
  }

 private:
  // Blanks, comments and instructions, as far as they go.
  void pass_over() {
    for (;;) {
      take_while(is_blank);
      if (accept("<!--")) {
        take_through("-->", "a comment");
      } else if (accept("<?")) {
        take_through("?>", "an instruction");
      } else {
        return;
      }
    }
  }

  XmlElement element(std::uint32_t depth) {
    if (depth > kMostDepth)
      fail(fmt::format("elements more than {} deep; expected fewer", kMostDepth));
    XmlElement out;
    out.line = line_;
    if (left_.starts_with("<!")) fail("a declaration within the document; expected an element");
    expect("<", "an element");
    out.name = name("an element's name");
    for (;;) {
      const bool apart = !take_while(is_blank).empty();
      if (accept("/>")) return out;
      if (accept(">")) break;
      if (!apart && !left_.empty()) fail("no blank before an attribute; expected one, '>' or '/>'");
      add_attribute(out);
    }
    for (;;) {
      pass_over();
      if (accept("</")) break;
      if (left_.empty()) fail_expecting(fmt::format("</{}>", out.name));
      if (!left_.starts_with('<')) {
        fail(fmt::format("the text within <{}> is not expected; expected elements and </{}>",
                         out.name, out.name));
      }
      out.children.push_back(element(depth + 1));
    }
    if (const std::string_view end = name("an element's name"); end != out.name) {
      fail(fmt::format("</{}> ends <{}> of line {}; expected </{}>", end, out.name, out.line,
                       out.name));
    }
    take_while(is_blank);
    expect(">", "'>'");
    return out;
  }

  void add_attribute(XmlElement& to) {
    XmlAttribute attribute;
    attribute.name = name("an attribute, '>' or '/>'");
    take_while(is_blank);
    expect("=", "'='");
    take_while(is_blank);
    const std::string_view quote = left_.substr(0, 1);
    if (quote != "\"" && quote != "'") fail("a value without quotes; expected some");
    take(1);
    const std::size_t end = left_.find(quote);
    if (end == std::string_view::npos) fail("a value has no end; expected a quote");
    attribute.value = take(end);
    take(1);
    if (attribute.value.find('<') != std::string_view::npos) fail("'<' in a value; expected &lt;");
    if (to.find(attribute.name) != nullptr) {
      fail(fmt::format("{} stands twice in <{}>; expected it once", attribute.name, to.name));
    }
    to.attributes.push_back(attribute);
  }

  std::string_view name(std::string_view expected) {
    const std::string_view found = take_while(is_name);
    if (found.empty()) fail_expecting(expected);
    return found;
  }

  template <class Is>
  std::string_view take_while(const Is& is) {
    const auto end = std::find_if_not(left_.begin(), left_.end(), is);
    return take(static_cast<std::size_t>(end - left_.begin()));
  }

  void take_through(std::string_view end, std::string_view what) {
    const std::size_t at = left_.find(end);
    if (at == std::string_view::npos) fail(fmt::format("{} has no end; expected '{}'", what, end));
    take(at + end.size());
  }

  std::string_view take(std::size_t count) {
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    line_ += static_cast<std::uint32_t>(std::count(taken.begin(), taken.end(), '\n'));
    return taken;
  }

  bool accept(std::string_view what) {
    if (!left_.starts_with(what)) return false;
    take(what.size());
    return true;
  }

  void expect(std::string_view what, std::string_view expected) {
    if (!accept(what)) fail_expecting(expected);
  }

  [[noreturn]] void fail_expecting(std::string_view expected) const {
    fail(left_.empty() ? fmt::format("the text ends too early; expected {}", expected)
                       : fmt::format("{} is out of place; expected {}",
                                     sched::in_quotes(left_.substr(0, 1)), expected));
  }
  [[noreturn]] void fail(std::string_view message) const {
    throw InputError(fmt::format("{}:{}: {}", file_, line_, message));
  }

  std::string_view left_;
  std::string_view file_;
  std::uint32_t line_ = 1;
};

}  // namespace

const std::string_view* XmlElement::find(std::string_view attribute) const {
  for (const XmlAttribute& each : attributes) {
    if (each.name == attribute) return &each.value;
  }
  return nullptr;
}

XmlElement read_xml(std::string_view text, std::string_view file) {
  return Reader(text, file).document();
}

std::string_view xml_root(std::string_view text) {
  try {
    return Reader(text, "").root();
  } catch (const InputError&) {
    return {};
  }
}

}  // namespace slackline::base
