#include "machine/node_count.h"

#include <algorithm>
#include <string_view>

#include "machine/toml_document.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
namespace {

// Of the preset that a platform is, with or without figures of its own: "fractus:nic=fair".
const PresetEntry* preset_of(const Platform& platform) {
  const std::string_view name = std::string_view(platform.name).substr(0, platform.name.find(':'));
  const auto all = presets();
  const auto entry =
      std::find_if(all.begin(), all.end(), [&](const PresetEntry& e) { return e.name == name; });
  return entry == all.end() ? nullptr : &*entry;
}

}  // namespace

std::optional<std::uint32_t> node_count(const Platform& platform) {
  switch (platform.topology.kind()) {
    case TopologyKind::kSimgridFile:
      return std::nullopt;
    case TopologyKind::kStar: {
      const PresetEntry* preset = preset_of(platform);
      if (preset == nullptr) return std::nullopt;
      const TomlValue value = parse_toml(preset->toml, preset->name);
      return TomlTable(value, preset->name, "").whole("nodes", kMaxHosts);
    }
    default:
      return entry_of(platform.topology).network(platform, 1)->host_count() /
             platform.node.rails.count;
  }
}

}  // namespace slackline::machine
