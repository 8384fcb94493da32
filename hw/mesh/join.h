// How the ranks of a mesh find each other: all come to rank 0, who hears that they agree and tells
// each where the others listen; then all connect pairwise, the higher rank to the lower.
//
// Rank 0 decides alone whether the join comes to something, and tells all ranks the same.
// Strangers (whoever does not begin as a rank of this protocol does) are let go without a word.
#pragma once

#include <vector>

#include "hw/descriptor.h"
#include "hw/mesh.h"
#include "hw/mesh/wire.h"

namespace slackline::hw {

struct Joined {
  std::vector<Member> members;      // by rank
  std::vector<Descriptor> sockets;  // by rank, connected; none for this one
};

/// Throws as Mesh's constructor does.
Joined join_ranks(const MeshOptions& options);

}  // namespace slackline::hw
