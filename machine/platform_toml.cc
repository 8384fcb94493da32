#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "machine/node_count.h"
#include "machine/platform.h"
#include "machine/platform_checks.h"
#include "machine/platform_figures.h"
#include "machine/toml_document.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

using Kind = TomlValue::Kind;

// A figure as the inline spec writes it.
std::optional<std::string> figure_text(TomlTable& table, const PlatformFigure& figure) {
  const TomlValue* value = table.find(figure.toml_key);
  if (value == nullptr) return std::nullopt;
  if (figure.form != FigureForm::kText && value->kind == Kind::kInteger) {
    return fmt::format("{}", value->integer);
  }
  if (figure.form == FigureForm::kDecimal && value->kind == Kind::kDecimal) {
    return fmt::format("{}", value->decimal);
  }
  if (figure.form == FigureForm::kList && value->kind == Kind::kArray) {
    std::string list;
    for (const TomlValue& child : value->children) {
      if (child.kind != Kind::kInteger) return table.text(figure.toml_key, figure.expected);
      list += fmt::format("{}{}", list.empty() ? "" : "x", child.integer);
    }
    return list;
  }
  return table.text(figure.toml_key, figure.expected);
}

void read_section(Platform& platform, TomlTable& table, std::string_view section) {
  std::vector<const PlatformFigure*> given;
  for (const PlatformFigure* figure : figures_of(platform.topology)) {
    if (figure->section != section) continue;
    if (const auto text = figure_text(table, *figure)) {
      figure->set(platform, *text, table.where(*table.find(figure->toml_key)));
      given.push_back(figure);
    }
  }
  check_exclusions(given, table.where());
}

void refuse_other_topologies(const Platform& platform, const TomlValue& document,
                             std::string_view section, std::string_view file) {
  for (const TomlValue& table : document.children) {
    if (table.key != section) continue;
    for (const TomlValue& child : table.children) {
      if (!(section == "network" ? is_key_of_another_topology(platform, child.key)
                                 : is_without(platform.topology, child.key))) {
        continue;
      }
      refuse_key(platform, child.key, fmt::format("{}:{}: {}", file, child.line, section));
    }
  }
}

// The count of a preset's nodes, which machine/node_count.h finds by the platform's name. Any other
// platform has the hosts of its network, and a star one for every rank: a count would bound
// nothing.
void read_nodes(TomlTable& document, const Platform& platform) {
  const auto nodes = document.whole("nodes", kMaxHosts);
  if (!nodes || nodes_of_preset(platform.name) == nodes) return;
  throw InputError(fmt::format(
      "{}: only a preset that comes with the program has a number of nodes; expected it to be left "
      "out, or a topology with as many hosts",
      document.where(*document.find("nodes"))));
}

}  // namespace

Platform platform_from_toml(std::string_view text, std::string_view file) {
  const TomlValue value = parse_toml(text, file);
  TomlTable document(value, file, "");
  document.check_schema(kPlatformSchema);

  Platform platform;
  platform.name =
      document.text("name", "the platform's name in quotes").value_or(std::string(file));
  document.text("summary", "a line about the platform in quotes");  // for people, and `list`
  read_nodes(document, platform);
  std::string network = std::string(file);
  // The topology decides what stands elsewhere.
  std::vector<std::string_view> sections{"network"};
  for (const PlatformFigure& figure : platform_figures()) {
    if (std::find(sections.begin(), sections.end(), figure.section) == sections.end()) {
      sections.push_back(figure.section);
    }
  }
  for (const std::string_view section : sections) {
    auto table = document.table(section);
    if (!table) continue;
    if (section == "network") {
      network = table->where();
      if (const auto kind = table->text("topology", "a topology's name in quotes")) {
        set_topology(platform, *kind, table->where(*table->find("topology")));
      }
    }
    read_section(platform, *table, section);
    refuse_other_topologies(platform, value, section, file);
    table->refuse_others();
  }
  document.refuse_others();
  check_platform(platform, network);
  return platform;
}

}  // namespace slackline::machine
