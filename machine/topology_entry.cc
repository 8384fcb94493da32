#include "machine/topology_entry.h"

#include <fmt/format.h>

#include <iterator>
#include <variant>

namespace slackline::machine {
namespace {

// A topology is registered by its line here and its place in Shape.
constexpr const TopologyEntry& (*kEntries[])() = {
    star_entry, two_level_entry, fat_tree_entry, dragonfly_entry, torus_entry, simgrid_file_entry,
};
static_assert(std::size(kEntries) == std::variant_size_v<Shape>);

}  // namespace

std::vector<const TopologyEntry*> topologies() {
  std::vector<const TopologyEntry*> all;
  for (const auto& entry : kEntries) all.push_back(&entry());
  return all;
}

const TopologyEntry& entry_of(const Topology& topology) {
  return kEntries[topology.shape.index()]();
}

std::string topology_names() {
  std::string names;
  for (std::size_t i = 0; i < std::size(kEntries); ++i) {
    const char* before = i == 0 ? "" : i + 1 == std::size(kEntries) ? " or " : ", ";
    names += fmt::format("{}{}", before, kEntries[i]().name);
  }
  return names;
}

const TopologyEntry* find_topology(std::string_view name) {
  for (const auto& entry : kEntries) {
    if (entry().name == name) return &entry();
  }
  return nullptr;
}

}  // namespace slackline::machine
