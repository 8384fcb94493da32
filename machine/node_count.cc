#include "machine/node_count.h"

#include "machine/toml_document.h"
#include "machine/topology_entry.h"

namespace slackline::machine {
std::optional<std::uint32_t> nodes_of_preset(std::string_view name) {
  const PresetEntry* preset = find_preset(name);
  if (preset == nullptr) return std::nullopt;
  const TomlValue value = parse_toml(preset->toml, preset->name);
  return TomlTable(value, preset->name, "").whole("nodes", kMaxHosts);
}

std::optional<std::uint32_t> node_count(const Platform& platform) {
  switch (platform.topology.kind()) {
    case TopologyKind::kSimgridFile:
      return std::nullopt;
    case TopologyKind::kStar:  // or a preset with figures of its own: "fractus:nic=fair"
      return nodes_of_preset(std::string_view(platform.name).substr(0, platform.name.find(':')));
    default:
      return entry_of(platform.topology).network(platform, 1)->host_count() /
             platform.node.rails.count;
  }
}

}  // namespace slackline::machine
