// One end of the only channel of a libfabric transport, in this process and thread: nothing moves
// but by poll().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hw/fabric/transport.h"

namespace slackline::testing {

struct ChannelEndHere {
  static constexpr std::uint32_t kChannel = 7;

  // The end that initiates is rank 1's, the other rank 0's.
  ChannelEndHere(const std::string& provider, bool initiates, std::size_t bytes = 4096,
                 const std::string& host = "127.0.0.1")
      : transport(hw::make_fabric_transport({provider, host})),
        memory(bytes),
        local(transport->register_memory(memory)),
        end{kChannel, initiates ? 0u : 1u, initiates},
        address(transport->open({&end, 1})) {}

  // False if there was no room. The bytes lie in `memory`.
  bool post(hw::RequestKind kind, std::span<const std::span<std::byte>> bytes,
            hw::RemoteMemory remote = {}) {
    std::vector<hw::Segment> segments;
    for (const std::span<std::byte> part : bytes) {
      segments.push_back({part.data(), part.size(), local.handle});
    }
    hw::WorkRequest request;
    request.kind = kind;
    request.channel = kChannel;
    request.tag = 1;
    request.local = segments;
    request.remote = remote;
    return transport->post({&request, 1}) == 1;
  }
  bool post(hw::RequestKind kind, std::span<std::byte> bytes, hw::RemoteMemory remote = {}) {
    return post(kind, {&bytes, 1}, remote);
  }

  // How many completions there were.
  std::size_t poll() {
    std::array<hw::Completion, 8> completions;
    return transport->poll(completions);
  }

  std::unique_ptr<hw::Transport> transport;
  std::vector<std::byte> memory;
  hw::LocalMemory local;
  hw::ChannelEnd end;
  hw::Address address;
};

}  // namespace slackline::testing
