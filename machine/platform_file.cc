#include "machine/platform_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "machine/platform_figures.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

// A basic string: what TOML does not take as it is, as \uXXXX.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code == 0x7f) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

std::string platform_to_toml(const Platform& platform, std::string_view summary,
                             const std::function<std::string(std::string_view key)>& source_of) {
  std::string text = fmt::format("schema = {}\nname = {}\nsummary = {}\n", kPlatformSchema,
                                 in_quotes(platform.name), in_quotes(summary));
  const auto add = [&](std::string_view key, std::string_view toml_key, std::string_view value) {
    const std::string source = source_of(key);
    if (!source.empty()) text += fmt::format("# {}\n", source);
    text += fmt::format("{} = {}\n", toml_key, in_quotes(value));
  };
  const std::vector<const PlatformFigure*> figures = figures_of(platform.topology);
  std::vector<std::string_view> sections;
  for (const PlatformFigure& figure : platform_figures()) {
    if (std::find(sections.begin(), sections.end(), figure.section) == sections.end()) {
      sections.push_back(figure.section);
    }
  }
  for (const std::string_view section : sections) {
    text += fmt::format("\n[{}]\n", section);
    if (section == "network") add("topology", "topology", entry_of(platform.topology).name);
    for (const PlatformFigure* figure : figures) {
      if (figure->section != section) continue;
      const std::string value = figure->get(platform);
      if (!value.empty()) add(figure->key, figure->toml_key, value);
    }
  }
  return text;
}

}  // namespace slackline::machine
