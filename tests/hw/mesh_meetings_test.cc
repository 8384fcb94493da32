// Where a rank is called by ranks that are no neighbours: who may come in, and who wins.
#include <gtest/gtest.h>

#include <algorithm>
#include <asio.hpp>
#include <chrono>
#include <thread>

#include "hw/mesh/meetings.h"
#include "hw/mesh/wire.h"
#include "tests/hw/mesh_socket.h"

namespace slackline {
namespace {

using hw::Connection;
using hw::Hello;
using hw::Member;
using hw::NeighbourMeetings;
using hw::Secret;
using testing::connected_to;
using testing::Insider;
using namespace std::chrono_literals;

constexpr std::uint64_t kRun = 77;

hw::Descriptor listener(std::uint16_t& port) {
  hw::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = testing::loopback(0);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(socket.get(), generic, length) != 0 || listen(socket.get(), 16) != 0) return {};
  getsockname(socket.get(), generic, &length);
  port = ntohs(address.sin_port);
  return socket;
}

Hello hello_of(std::uint32_t rank, std::uint64_t run = kRun) {
  Hello hello;
  hello.rank = rank;
  hello.ranks = 4;
  hello.run = run;
  return hello;
}

// A rank of four, which notes what it is told.
struct Rank {
  Rank(std::uint32_t rank, const std::vector<Member>& members, const Secret& secret,
       hw::Descriptor socket, std::chrono::milliseconds patience = 20s)
      : meetings(io, hello_of(rank), members, secret, patience,
                 {[this](std::uint32_t other) { return !known[other]; },
                  [this](std::uint32_t other, Connection connection) {
                    known[other] = true;
                    connections.push_back(std::move(connection));
                    notes += "met " + std::to_string(other) + "; ";
                  },
                  [this](std::uint32_t other) {
                    known[other] = true;
                    notes += std::to_string(other) + " left; ";
                  },
                  [this](std::uint32_t other, const std::string& why) {
                    known[other] = true;
                    notes += std::to_string(other) + " fails: " + why + "; ";
                  }}) {
    meetings.answer_at(std::move(socket));
  }

  asio::io_context io;
  std::array<bool, 4> known{};
  std::vector<Connection> connections;
  std::string notes;
  NeighbourMeetings meetings;
};

struct Four {
  Four() {
    for (std::uint32_t r = 0; r < 4; ++r) {
      std::uint16_t port = 0;
      sockets.push_back(listener(port));
      members.push_back({"here", 1, "127.0.0.1", port});
    }
  }
  Rank rank(std::uint32_t r, std::chrono::milliseconds patience = 20s) {
    return {r, members, secret, std::move(sockets[r]), patience};
  }
  std::uint16_t port(std::uint32_t r) const { return static_cast<std::uint16_t>(members[r].port); }

  Secret secret = Secret::random();
  std::vector<Member> members;
  std::vector<hw::Descriptor> sockets;
};

// Until nobody is met any more, all in one thread.
void run(std::initializer_list<Rank*> ranks) {
  const auto busy = [](Rank* rank) { return rank->meetings.is_meeting(); };
  for (int i = 0; i < 40'000 && std::any_of(ranks.begin(), ranks.end(), busy); ++i) {
    for (Rank* rank : ranks) rank->io.run_for(1ms);
  }
}

TEST(NeighbourMeetings, OneOfBothCalls) {
  Four four;
  Rank low = four.rank(1);
  Rank high = four.rank(3);
  low.meetings.call(3);
  low.meetings.call(3);
  run({&low, &high});
  EXPECT_EQ(low.notes, "met 3; ");
  EXPECT_EQ(high.notes, "met 1; ");
}

TEST(NeighbourMeetings, WhereBothCallOneConnectionStays) {
  for (int i = 0; i < 30; ++i) {
    Four four;
    Rank low = four.rank(1);
    Rank high = four.rank(3);
    low.meetings.call(3);
    if (i % 3 == 0) low.io.run_for(std::chrono::microseconds(100 * i));
    high.meetings.call(1);
    if (i % 3 == 1) high.io.run_for(std::chrono::microseconds(100 * i));
    run({&low, &high});
    ASSERT_EQ(low.notes, "met 3; ");
    ASSERT_EQ(high.notes, "met 1; ");
    // They are the two ends of one connection.
    const char word = 'w';
    ASSERT_EQ(send(low.connections[0].socket.get(), &word, 1, 0), 1);
    char heard = 0;
    pollfd readable{high.connections[0].socket.get(), POLLIN, 0};
    ASSERT_EQ(poll(&readable, 1, 20'000), 1);
    ASSERT_EQ(recv(high.connections[0].socket.get(), &heard, 1, 0), 1);
    ASSERT_EQ(heard, 'w');
  }
}

TEST(NeighbourMeetings, WhereNobodyListensSomebodyHasLeft) {
  Four four;
  four.sockets[2].reset();
  Rank rank = four.rank(1, 200ms);
  rank.meetings.call(2);
  EXPECT_TRUE(rank.meetings.is_meeting(2));
  run({&rank});
  EXPECT_EQ(rank.notes, "2 left; ");
  EXPECT_FALSE(rank.meetings.is_meeting());
}

TEST(NeighbourMeetings, WhoDoesNotAnswerFails) {
  Four four;  // rank 2 listens, and nobody is there
  Rank rank = four.rank(1, 300ms);
  rank.meetings.call(2);
  run({&rank});
  EXPECT_EQ(rank.notes.substr(0, 45), "2 fails: rank 1 cannot reach it at 127.0.0.1:")
      << rank.notes;
  four.members[2].address = "nowhere";
  Rank other = four.rank(3, 300ms);
  other.meetings.call(2);
  run({&other});
  EXPECT_EQ(other.notes, "2 fails: rank 0 says that it listens at nowhere, which is no address; ");
}

// Nobody is met who does not know the secret, or is of another run, or is this rank.
TEST(NeighbourMeetings, OthersAreSentAway) {
  Four four;
  Rank rank = four.rank(1);
  std::thread thread([&rank] { rank.io.run_for(60s); });
  {
    const hw::Descriptor stranger = connected_to(four.port(1));
    testing::put(stranger, std::string(200, 'x'));
    const std::size_t heard = testing::get(stranger, 4096).size();
    EXPECT_TRUE(heard == 0 || heard == hw::kKeyHalfBytes) << heard;
    Insider other_run(connected_to(four.port(1)), Secret::random());
    EXPECT_FALSE(other_run.known());
  }
  for (const Hello& hello : {hello_of(2, kRun + 1), hello_of(4), hello_of(1), hello_of(~0u)}) {
    Insider insider(connected_to(four.port(1)), four.secret);
    ASSERT_TRUE(insider.known());
    insider.put(encode(hello));
    EXPECT_FALSE(insider.next()) << hello.rank;
  }
  {
    Insider insider(connected_to(four.port(1)), four.secret);
    insider.put(std::as_bytes(std::span("no hello at all, but long enough for one")));
    EXPECT_FALSE(insider.next());
  }
  Insider right(connected_to(four.port(1)), four.secret);
  right.put(encode(hello_of(2)));
  EXPECT_TRUE(right.next());
  Insider again(connected_to(four.port(1)), four.secret);
  again.put(encode(hello_of(2)));
  EXPECT_FALSE(again.next());
  // It is answered before it is met.
  asio::co_spawn(
      rank.io,
      [&rank]() -> asio::awaitable<void> {
        asio::steady_timer timer(rank.io);
        while (rank.meetings.is_meeting()) {
          timer.expires_after(1ms);
          co_await timer.async_wait(asio::use_awaitable);
        }
        rank.io.stop();
      },
      asio::detached);
  thread.join();
  EXPECT_EQ(rank.notes, "met 2; ");
}

}  // namespace
}  // namespace slackline
