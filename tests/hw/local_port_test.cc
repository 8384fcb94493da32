// The port that rank 0 is asked for at is nobody else's, from when it is chosen until all have
// come.
#include <errno.h>
#include <gtest/gtest.h>

#include "tests/hw/mesh_ranks.h"
#include "tests/hw/mesh_socket.h"
#include "tests/support/in_child.h"

namespace slackline {
namespace {

constexpr uid_t kNobody = 65534;

// With each option that lets sockets share a port, at loopback and at all addresses.
bool listens_there(std::uint16_t port) {
  for (const int option : {0, SO_REUSEADDR, SO_REUSEPORT}) {
    for (const in_addr_t host : {INADDR_LOOPBACK, INADDR_ANY}) {
      const hw::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const int yes = 1;
      if (option != 0) setsockopt(socket.get(), SOL_SOCKET, option, &yes, sizeof yes);
      sockaddr_in address = testing::loopback(port);
      address.sin_addr.s_addr = htonl(host);
      const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
      if (bind(socket.get(), generic, sizeof address) == 0 && listen(socket.get(), 1) == 0) {
        return true;
      }
    }
  }
  return false;
}

TEST(LocalPort, NoOtherProcessListensThere) {
  const hw::LocalPort port;
  EXPECT_FALSE(listens_there(port.port()));
  ASSERT_EQ(listen(port.socket(), 1), 0);
  EXPECT_FALSE(listens_there(port.port()));
}

TEST(LocalPort, NoOtherUserListensThere) {
  if (geteuid() != 0) GTEST_SKIP() << "to be another user needs root";
  const hw::LocalPort port;
  const int status = testing::ending_of_child([&port] {
    const std::uint16_t number = port.port();
    // What another user's process would not have.
    close(port.socket());
    if (setgid(kNobody) != 0 || setuid(kNobody) != 0) _exit(2);
    if (listens_there(number)) _exit(1);
  });
  EXPECT_EQ(status, 0);
}

// Whoever starts ranks still holds the socket then.
TEST(LocalPort, NobodyIsHeardThereOnceAllRanksHaveCome) {
  testing::MeshRanks ranks;
  ranks.start_all(2, [](const hw::MeshOptions& options, const testing::MeshRanks::Say& say) {
    hw::Mesh mesh(options);
    mesh.barrier();
    say("joined");
    pause();
  });
  for (std::size_t r = 0; r < 2; ++r) ASSERT_EQ(ranks.next(r), "joined");
  const hw::Descriptor stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = testing::loopback(ranks.port().port());
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  EXPECT_EQ(connect(stranger.get(), generic, sizeof address), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
}

}  // namespace
}  // namespace slackline
