// Which of the ranks of a host this one is, for sharing the host's NICs among them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hw/mesh.h"
#include "hw/verbs_options.h"

namespace slackline::hw {

/// How many of `here` come before `rank`, and how many of those run on the nodes that it runs on.
/// `nodes` by rank; `here` ascending.
struct HostPlace {
  std::uint32_t on_host = 0;
  std::uint32_t on_nodes = 0;
};
HostPlace host_place(std::uint32_t rank, std::span<const std::uint32_t> here,
                     std::span<const std::vector<int>> nodes);

/// Sets rank_on_host and rank_on_nodes. All ranks of the mesh call it.
void set_places(VerbsOptions& options, Mesh& mesh);

}  // namespace slackline::hw
