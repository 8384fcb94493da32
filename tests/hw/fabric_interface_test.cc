// Over TCP a rank's data port is bound to the address that the transport is given, which is the
// mesh's, and to no other.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/hw/channel_end.h"
#include "tests/support/own_sockets.h"

namespace slackline {
namespace {

using End = testing::ChannelEndHere;

class FabricInterface : public ::testing::TestWithParam<const char*> {};

TEST_P(FabricInterface, IsTheOneThatTheTransportIsGiven) {
  for (const char* const host : {"127.0.0.1", "127.0.0.2"}) {
    const auto before = testing::own_sockets();
    const End end(GetParam(), false, 64, host);
    std::size_t ports = 0;
    for (const auto& [number, socket] : testing::own_sockets()) {
      if (before.contains(number) || socket.state != "0A") continue;
      ++ports;
      EXPECT_EQ(socket.local.substr(0, socket.local.find(':')),
                fmt::format("{:08X}", inet_addr(host)));
    }
    EXPECT_GE(ports, 1u) << host;
  }
}

INSTANTIATE_TEST_SUITE_P(Providers, FabricInterface, ::testing::Values("net", "tcp;ofi_rxm"),
                         [](const auto& tested) {
                           return std::string(tested.param) == "tcp;ofi_rxm" ? "rxm" : tested.param;
                         });

}  // namespace
}  // namespace slackline
