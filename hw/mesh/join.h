// How the ranks of a mesh find each other: all come to rank 0, who hears that they agree and tells
// each where the others listen; then neighbours (hw/mesh/neighbours.h) connect, the higher rank to
// the lower.
//
// Rank 0 decides alone whether the join comes to something, and tells all ranks the same.
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
  Hello hello;                          // this rank's, with the run's number
  std::vector<Member> members;          // by rank
  std::vector<Connection> connections;  // by rank; none for those that are no neighbours
  Descriptor listener;                  // where those come that are none; rank 0 has none
};

/// How a rank with these options introduces itself, before it knows where it listens.
Hello hello_of(const MeshOptions& options);

/// Throws as Mesh's constructor does.
Joined join_ranks(const MeshOptions& options);

}  // namespace slackline::hw
