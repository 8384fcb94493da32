#include "base/ascii_text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

namespace slackline::base {
namespace {

// What the program itself writes.
constexpr std::pair<std::string_view, std::string_view> kForms[] = {
    {"…", "..."}, {"×", "x"}, {"−", "-"},  {"–", "-"},  {"→", "->"}, {"±", "+/-"},
    {"µ", "u"},   {"·", "*"}, {"≥", ">="}, {"≤", "<="}, {"′", "'"},  {"ε", "eps"}};

bool continues(char c) { return (static_cast<unsigned char>(c) >> 6) == 2; }

}  // namespace

std::string ascii_text(std::string_view text) {
  std::string ascii;
  while (!text.empty()) {
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      ascii += text.front();
      text.remove_prefix(1);
      continue;
    }
    const auto* const form = std::ranges::find_if(
        kForms, [&](const auto& each) { return text.starts_with(each.first); });
    ascii += form == std::end(kForms) ? "?" : form->second;
    do text.remove_prefix(1);
    while (!text.empty() && continues(text.front()));
  }
  return ascii;
}

bool shows_utf8() {
  for (const char* const variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    std::string codeset;
    for (const char c : std::string_view(value)) {
      if (c != '-') codeset += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return codeset.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace slackline::base
