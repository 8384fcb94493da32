#include "machine/platform.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/named.h"
#include "base/split.h"
#include "base/suggest.h"
#include "machine/input_text.h"
#include "machine/nccl_topology.h"
#include "machine/platform_checks.h"
#include "machine/platform_figures.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

// What stands before and after the first colon.
struct Halves {
  std::string_view head;
  std::string_view figures;
  bool has_figures = false;
};

Halves halves_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {text, {}, false};
  return {text.substr(0, colon), text.substr(colon + 1), true};
}

// Specs of patterns have dashes in their keys, those of platforms underscores: who mixes them up is
// understood.
bool is_key(std::string_view text, std::string_view key) {
  return std::equal(text.begin(), text.end(), key.begin(), key.end(),
                    [](char a, char b) { return a == b || (a == '-' && b == '_'); });
}

void set_figures(Platform& platform, std::string_view text, std::string_view whole) {
  const std::string where = "platform " + in_quotes(whole);
  const auto figures = figures_of(platform.topology);
  std::vector<const PlatformFigure*> seen;
  for (const std::string_view item : base::split(text)) {
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw InputError(
          fmt::format("{}: {} is no figure; expected key=value", where, in_quotes(item)));
    }
    const std::string_view key = item.substr(0, equals);
    const auto found = std::find_if(figures.begin(), figures.end(),
                                    [&](const PlatformFigure* f) { return is_key(key, f->key); });
    if (found == figures.end()) refuse_key(platform, key, where);
    if (std::find(seen.begin(), seen.end(), *found) != seen.end()) {
      throw InputError(fmt::format("{}: {} stands twice; expected it once", where, key));
    }
    seen.push_back(*found);
    (*found)->set(platform, item.substr(equals + 1), fmt::format("{}: {}", where, key));
  }
  check_exclusions(seen, where);
}

// Whether figures in an inline text have that key.
bool has_key(std::string_view figures, std::string_view key) {
  const auto items = base::split(figures);
  return std::any_of(items.begin(), items.end(), [&](std::string_view item) {
    return is_key(item.substr(0, item.find('=')), key);
  });
}

// NCCL's topology of a host, with figures of its own.
Platform from_xml(const Halves& halves, std::string_view whole) {
  const std::string path(halves.head);
  const std::string xml = read_input_file(path, "platform", "a TOML file or NCCL's topology (XML)");
  if (!looks_like_nccl_topology(xml)) {
    throw InputError(fmt::format(
        "{}: it is not NCCL's topology (<system>); expected that, or simgrid:file={} for "
        "SimGrid's platforms",
        path, path));
  }
  const NcclFigures figures{has_key(halves.figures, "rate"), has_key(halves.figures, "copy_rate")};
  Platform platform = platform_from_nccl(xml, path, figures);
  if (halves.has_figures) set_figures(platform, halves.figures, whole);
  check_platform(platform, "platform " + in_quotes(whole));
  platform.name = whole;
  return platform;
}

// What may stand before a colon.
std::vector<std::string_view> head_names() {
  std::vector<std::string_view> names = base::names_of(presets());
  for (const TopologyEntry* entry : topologies()) names.push_back(entry->name);
  return names;
}

}  // namespace

const PresetEntry* find_preset(std::string_view name) { return base::find_named(presets(), name); }

std::string Platform::spec() const {
  std::string text(entry_of(topology).name);
  char before = ':';
  for (const PlatformFigure* figure : figures_of(topology)) {
    const std::string value = figure->get(*this);
    if (value.empty()) continue;
    text += fmt::format("{}{}={}", before, figure->key, value);
    before = ',';
  }
  return text;
}

Platform parse_platform_spec(std::string_view text) {
  const std::string where = "platform " + in_quotes(text);
  require_plain(text, where);
  const Halves halves = halves_of(text);
  Platform platform;
  platform.name = text;
  set_topology(platform, halves.head, where);
  if (halves.has_figures) set_figures(platform, halves.figures, text);
  check_platform(platform, where);
  return platform;
}

Platform load_platform(std::string_view text) {
  require_plain(text, "platform " + in_quotes(text));
  const Halves halves = halves_of(text);
  if (const PresetEntry* preset = find_preset(halves.head)) {
    Platform platform = platform_from_toml(preset->toml, fmt::format("{}.toml", preset->name));
    if (halves.has_figures) {
      set_figures(platform, halves.figures, text);
      check_platform(platform, "platform " + in_quotes(text));
      platform.name = text;
    }
    return platform;
  }
  if (find_topology(halves.head) != nullptr) return parse_platform_spec(text);
  if (halves.head.ends_with(".xml")) return from_xml(halves, text);
  const std::string path(text);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored) && !path.ends_with(".toml")) {
    throw InputError(fmt::format(
        "platform {}: no such preset or file{}; expected {}, star:key=value,… or another topology "
        "({}), or the path of a TOML file or of NCCL's topology (XML)",
        in_quotes(text), sched::did_you_mean(halves.head, head_names()),
        fmt::join(base::names_of(presets()), ", "), topology_names()));
  }
  return platform_from_toml(read_input_file(path, "platform"), path);
}

}  // namespace slackline::machine
