// Which transport ranks can take, by the hosts that they are on.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "hw/mesh.h"

namespace slackline::hw {

/// Asked for in a transport's place: shm where all ranks are on one host, else tcp.
inline constexpr std::string_view kAutoTransport = "auto";

/// What libfabric's shm joins at most.
inline constexpr std::uint32_t kMostShmRanks = 256;

/// The transport that is meant by `asked`; all ranks of the mesh come to the same.
std::string_view choose_transport(std::string_view asked, const Mesh& mesh);

/// Throws InputError, the same at all ranks, if the transport does not reach from each of `ranks`
/// to each: shm between hosts, which are named, or with more than kMostShmRanks.
void require_reach(std::string_view transport, const Mesh& mesh,
                   std::span<const std::uint32_t> ranks);
/// The same for all ranks of the mesh.
void require_reach(std::string_view transport, const Mesh& mesh);
/// What of it does not need a mesh.
void require_ranks(std::string_view transport, std::uint32_t ranks);

/// Throws EnvironmentError, the same at all ranks, if one of them finds that its host has no room
/// for the transport: shm in a full /dev/shm. All ranks call it, before one of them makes the
/// transport.
void require_room(std::string_view transport, Mesh& mesh);

}  // namespace slackline::hw
