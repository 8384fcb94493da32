// What a figure of a run is worth nothing without: where each rank ran, on which device, with which
// versions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/mesh.h"
#include "hw/transport.h"

namespace slackline::hw {

struct RankFacts {
  std::string host;  // as it calls itself
  std::uint64_t process = 0;
  std::string cores;    // that the rank's thread may run on, as hw/host_cores.h writes them
  int core = -1;        // where it ran when it was asked; −1: not known
  int node = -1;        // NUMA; of that core
  std::string kernel;   // its release
  std::string version;  // of Slackline
  TransportFacts transport;
  /// The first rank of its host; found by who gathers, not told.
  std::uint32_t first_of_host = 0;
};

/// Of this rank and the calling thread.
RankFacts facts_here(const Transport& transport);

/// Texts are cut off where they are longer than a reader takes.
Bytes encode(const RankFacts& facts);
/// Throws WireError (hw/mesh/wire.h) for bytes that are none, texts of more than 1024 bytes, and
/// bytes that are left over.
RankFacts decode_rank_facts(std::span<const std::byte> bytes);

/// What all ranks have, by rank. All of them call it, as Mesh::all_gather(). Throws
/// EnvironmentError naming the rank for what is none.
std::vector<RankFacts> gather_facts(Mesh& mesh, const Transport& transport);

/// How full a host is: of those that its ranks may run on, how many cores for how many ranks.
struct HostUse {
  std::uint32_t first_rank = 0;
  std::uint32_t ranks = 0;
  std::uint32_t cores = 0;
};

/// The host with the most ranks for a core, the first of equals; nothing where no rank tells its
/// cores.
std::optional<HostUse> fullest_host(std::span<const RankFacts> facts);

/// The slowest link of them, in bit/s; nothing if one of them is not known.
std::optional<std::uint64_t> line_rate(std::span<const RankFacts> facts);

}  // namespace slackline::hw
