// The kinds of topology, as a table: how each is called and read, and the network it makes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/network.h"
#include "machine/platform.h"
#include "machine/platform_figures.h"

namespace slackline::machine {

struct TopologyEntry {
  std::string_view name;
  std::string_view summary;  // one line, for lists
  Shape shape;               // before its figures are read
  std::span<const PlatformFigure> figures;
  /// Throws InputError, naming `what`, if the figures make no network.
  void (*check)(const Platform&, std::string_view what);
  /// Of a platform that was checked. Throws Unsupported if only another program can read it.
  std::unique_ptr<Network> (*network)(const Platform&, std::uint32_t ranks);
  /// Keys of platform_figures() that do not belong to it.
  std::span<const std::string_view> without = {};
};

/// Every kind, in the order of Shape's alternatives.
std::vector<const TopologyEntry*> topologies();

const TopologyEntry& entry_of(const Topology& topology);

/// "star, two-level, …, torus or simgrid"
std::string topology_names();

/// Null if there is none of that name.
const TopologyEntry* find_topology(std::string_view name);
const PresetEntry* find_preset(std::string_view name);

}  // namespace slackline::machine
