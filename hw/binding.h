// On which cores ranks run: --bind.
//
// Bound is the thread that carries out a rank's part, once its transport is there: only then it is
// known what it is near to. The threads that are there by then keep all cores of the process: the
// mesh's, which hears and answers, and the one that watches calls sleep nearly always, and must not
// wait behind a thread that polls. Memory is taken later, and so from the node of the bound thread
// or of the device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hw/mesh.h"
#include "hw/transport.h"

namespace slackline::hw {

enum class Binding : std::uint8_t {
  kNone,  // as the process was started
  kCore,  // each rank to a core of its own, while there are any
  kNuma,  // each to all cores of a NUMA node
};
std::string_view name(Binding binding);
std::optional<Binding> binding_named(std::string_view text);

/// What decides where a rank may sit.
struct RankSeat {
  std::vector<std::uint32_t> cores;  // that it is allowed, ascending, at least one
  int near = -1;                     // the NUMA node of its transport; −1: none, or not known
};

Bytes encode(const RankSeat& seat);
/// Throws WireError (hw/mesh/wire.h) for bytes that are none: no core, one of 65536 or more, cores
/// that do not ascend, bytes that are left over. A node of 65536 or more is not known.
RankSeat decode_rank_seat(std::span<const std::byte> bytes);

/// The node of a core of the ranks' host, −1 if it is not known.
using NodeOfCore = std::function<int(std::uint32_t core)>;

/// The cores of each of a host's ranks, in the order in which they are given, each from its own
/// allowed ones. kCore: the one with the fewest ranks before it; of these one near the transport
/// first, then the lowest. kNuma: the near node while it has more cores than ranks, else the node
/// with the fewest ranks that has, else that with the fewest; its lowest number. Where no node is
/// known, all allowed ones. kNone: all allowed ones.
std::vector<std::vector<std::uint32_t>> seats_of(Binding binding, std::span<const RankSeat> ranks,
                                                 const NodeOfCore& node_of);

/// Where ranks of one host are more than the cores that they may run on together, what is to be
/// said of it; else empty. `host` is its name.
std::string crowding(Binding binding, std::span<const RankSeat> ranks, std::string_view host);

/// Binds the calling thread. All ranks of the mesh call it with the same `binding`, which is not
/// kNone, as Mesh::all_gather(). Answers what crowding() says of each host, on all ranks. Throws
/// EnvironmentError if the system refuses, and for what a rank tells that makes no sense.
std::vector<std::string> bind_rank(Binding binding, Mesh& mesh, const Transport& transport);

}  // namespace slackline::hw
