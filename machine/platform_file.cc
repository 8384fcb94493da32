#include "machine/platform_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "machine/platform_figures.h"
#include "machine/toml_document.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
std::string platform_to_toml(const Platform& platform, std::string_view summary,
                             const std::function<std::string(std::string_view key)>& source_of) {
  std::string text = fmt::format("schema = {}\nname = {}\nsummary = {}\n", kPlatformSchema,
                                 toml_string(platform.name), toml_string(summary));
  const auto add = [&](std::string_view key, std::string_view toml_key, std::string_view value) {
    const std::string source = source_of(key);
    if (!source.empty()) text += fmt::format("# {}\n", source);
    text += fmt::format("{} = {}\n", toml_key, toml_string(value));
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
