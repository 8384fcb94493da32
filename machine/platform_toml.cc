#include <algorithm>
#include <vector>

#include "machine/platform.h"
#include "machine/platform_figures.h"
#include "machine/toml_document.h"

namespace slackline::machine {

Platform platform_from_toml(std::string_view text, std::string_view file) {
  const TomlValue value = parse_toml(text, file);
  TomlTable document(value, file, "");
  document.check_schema(kPlatformSchema);

  Platform platform;
  platform.name =
      document.text("name", "the platform's name in quotes").value_or(std::string(file));
  document.text("summary", "a line about the platform in quotes");  // for people, and `list`
  std::vector<std::string_view> read;
  for (const PlatformFigure& first : platform_figures()) {
    const std::string_view section = first.section;
    if (std::find(read.begin(), read.end(), section) != read.end()) continue;
    read.push_back(section);
    auto table = document.table(section);
    if (!table) continue;
    if (section == "network") {
      if (const auto kind = table->text("topology", "\"star\"")) {
        set_topology(platform, *kind, table->where(*table->find("topology")));
      }
    }
    for (const PlatformFigure& figure : platform_figures()) {
      if (figure.section != section) continue;
      if (const auto figure_text = table->text(figure.toml_key, figure.expected)) {
        figure.set(platform, *figure_text, table->where(*table->find(figure.toml_key)));
      }
    }
    table->refuse_others();
  }
  document.refuse_others();
  return platform;
}

}  // namespace slackline::machine
