// How the ranks of a mesh find each other: all come to rank 0, who hears that they agree and tells
// each where the others listen; then all connect pairwise, the higher rank to the lower.
//
// Rank 0 decides alone whether the join comes to something, and tells all ranks the same.
// Strangers (whoever does not prove that it knows the run's secret) are let go without a word.
// Until it has proved it, a connection holds a few dozen bytes and has 5 s, and at most 64 and two
// for each rank are heard at once: the oldest makes room for the next.
#pragma once

#include <memory>
#include <vector>

#include "hw/descriptor.h"
#include "hw/mesh.h"
#include "hw/mesh/seal.h"
#include "hw/mesh/wire.h"

namespace slackline::hw {

/// To another rank. None: both are empty.
struct Connection {
  Descriptor socket;
  std::unique_ptr<Seal> seal;
};

struct Joined {
  std::vector<Member> members;          // by rank
  std::vector<Connection> connections;  // by rank; none for this one
};

/// How a rank with these options introduces itself, before it knows where it listens.
Hello hello_of(const MeshOptions& options);

/// Throws as Mesh's constructor does.
Joined join_ranks(const MeshOptions& options);

}  // namespace slackline::hw
