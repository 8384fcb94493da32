// A port as its peers need it to reach it, and whether two ports reach each other: seen before the
// first packet, where packets that get no answer would tell seconds later that something is wrong.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hw/verbs/device_choice.h"

namespace slackline::hw {

/// Plain bytes.
struct VerbsPort {
  Gid gid{};
  std::array<char, 32> device{};   // its name, cut; for people
  std::uint16_t lid = 0;           // 0 on Ethernet
  std::uint16_t partition = 0;     // key, with the bit of full members
  std::uint8_t port = 0;           // its number, for people
  std::uint8_t gid_index = 0;      // for people
  std::uint8_t ethernet = 0;       // RoCE, else InfiniBand
  std::uint8_t roce = 0;           // version of the GID, 1 or 2; 0 on InfiniBand
  std::uint8_t mtu = 0;            // enum ibv_mtu
  std::uint8_t service_level = 0;  // of what it sends
  std::uint8_t reads_in = 0;       // reads and atomics of one peer that it serves at a time
  std::uint8_t reads_out = 0;      // that it has under way at a time
};

/// "rxe0 port 1, RoCE v2, GID 1 (10.9.0.1)".
std::string describe(const VerbsPort& port);

/// Why packets of one port do not come through to the other, as far as both ports' own figures say:
/// one line with both ranks, what each has, and the cure. Nothing if none of them speaks against
/// it. The same whichever of the two is `one`, but for the order.
/// MTUs may differ: packets have the smaller.
std::optional<std::string> mismatch(std::uint32_t one_rank, const VerbsPort& one,
                                    std::uint32_t other_rank, const VerbsPort& other);

/// Bytes of a packet, by enum ibv_mtu: 1 is 256, each next twice as many.
constexpr std::uint32_t mtu_bytes(std::uint8_t mtu) { return 128u << mtu; }

/// enum ibv_mtu for so many bytes; `active` is the port's. Throws EnvironmentError if the port
/// sends only smaller packets, InternalError for what is no MTU.
std::uint8_t choose_mtu(std::uint32_t bytes, std::uint8_t active, std::string_view port);

}  // namespace slackline::hw
