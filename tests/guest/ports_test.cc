// Which port the transport takes of those that a machine has, how it uses it, and what becomes of a
// run when it goes down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "base/error.h"
#include "hw/verbs/device.h"
#include "tests/guest/ranks.h"
#include "tests/support/error_of.h"

namespace slackline::guest {
namespace {

using hw::RequestKind;
using hw::Segment;
using hw::VerbsDevice;
using hw::VerbsOptions;
using hw::WorkRequest;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr seconds kLongestWait{60};
constexpr Rank::Channel kForth[] = {{0, 0, 1}};

void shell(const std::string& command) { ASSERT_EQ(std::system(command.c_str()), 0) << command; }

// Another RDMA device, rxe1 on 10.9.1.1, for as long as it lives.
class SecondDevice {
 public:
  SecondDevice() {
    shell(
        "ip link add rdma1 type dummy && ip link set rdma1 mtu 1500 up && "
        "ip addr add 10.9.1.1/24 dev rdma1 && rdma link add rxe1 type rxe netdev rdma1");
  }
  ~SecondDevice() { shell("rdma link del rxe1 && ip link del rdma1"); }
  SecondDevice(const SecondDevice&) = delete;
  SecondDevice& operator=(const SecondDevice&) = delete;
};

std::string name_with(const std::function<void(VerbsOptions&)>& set) {
  VerbsOptions options;
  set(options);
  return VerbsDevice(options).name();
}

std::string refusal(const std::function<void(VerbsOptions&)>& set) {
  return testing::error_of<EnvironmentError>([&] { name_with(set); });
}

std::uint8_t ipv4_index() { return VerbsDevice({"rxe0", "10.9.0.1"}).gid_index(); }

// Some GID that is not an IPv4 address.
std::uint8_t ipv6_index() {
  for (std::uint8_t index = 0; index < 8; ++index) {
    VerbsOptions options;
    options.gid_index = index;
    try {
      if (!hw::is_ipv4(VerbsDevice(options).address().gid)) return index;
    } catch (const EnvironmentError&) {
    }
  }
  ADD_FAILURE() << "rxe0 has no GID of IPv6";
  return 0;
}

WorkRequest request(RequestKind kind, std::span<const Segment> local) {
  WorkRequest made;
  made.kind = kind;
  made.local = local;
  return made;
}

// Rank 0 sends, rank 1 receives, 100,003 bytes.
void pass_bytes(Rank& rank, std::byte value) {
  const Segment local = rank.segment(0, 100'003);
  std::fill_n(local.data, local.bytes, rank.index() == 0 ? value : std::byte{0});
  rank.post(request(rank.index() == 0 ? RequestKind::kSend : RequestKind::kRecv, {&local, 1}));
  rank.next();
  EXPECT_EQ(local.data[0], value);
  EXPECT_EQ(local.data[local.bytes - 1], value);
}

TEST(Ports, AreTakenByTheAddressOfTheHostByNameAndInTurn) {
  const SecondDevice second;
  EXPECT_EQ(name_with([](VerbsOptions&) {}), "rxe0 port 1");
  EXPECT_EQ(name_with([](VerbsOptions& o) { o.host = "127.0.0.1"; }), "rxe0 port 1");
  EXPECT_EQ(name_with([](VerbsOptions& o) { o.host = "10.9.0.1"; }), "rxe0 port 1");
  EXPECT_EQ(name_with([](VerbsOptions& o) { o.host = "10.9.1.1"; }), "rxe1 port 1");
  EXPECT_EQ(name_with([](VerbsOptions& o) {
              o.host = "10.9.1.1";
              o.device = "rxe0";
            }),
            "rxe0 port 1");
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    const std::string right = rank % 2 == 0 ? "rxe1 port 1" : "rxe0 port 1";
    EXPECT_EQ(name_with([&](VerbsOptions& o) {
                o.device_map = {"rxe1:1", "rxe0"};
                o.rank_on_host = rank;
              }),
              right);
  }
  // Both are as near.
  EXPECT_NE(name_with([](VerbsOptions& o) { o.nearest = true; }), name_with([](VerbsOptions& o) {
              o.nearest = true;
              o.rank_on_nodes = 1;
            }));
  EXPECT_EQ(refusal([](VerbsOptions& o) { o.device = "mlx5_7"; }),
            "verbs: no RDMA device 'mlx5_7' here; there are: rxe0, rxe1");
}

TEST(Ports, TakeTheOptionsThatTheyHaveAndRefuseTheOthers) {
  VerbsOptions options;
  options.gid_index = ipv6_index();
  options.traffic_class = 96;
  options.service_level = 3;
  options.partition = {0x7fff, 0};
  options.mtu = 1024;
  options.ack_timeout = 14;
  options.retries = 5;
  const VerbsDevice device(options);
  EXPECT_EQ(device.gid_index(), *options.gid_index);
  EXPECT_EQ(device.address().mtu, 3);
  EXPECT_EQ(device.address().roce, 2);
  EXPECT_EQ(device.address().partition, 0xffff);
  EXPECT_EQ(device.path().traffic_class, 96);
  EXPECT_EQ(device.path().service_level, 3);
  EXPECT_EQ(device.path().ack_timeout, 14);
  EXPECT_EQ(device.path().retries, 5);
  EXPECT_THAT(refusal([](VerbsOptions& o) { o.gid_index = 200; }),
              AllOf(HasSubstr("rxe0 port 1 has no GID 200"), HasSubstr("(10.9.0.1, RoCE v2)")));
  EXPECT_EQ(refusal([](VerbsOptions& o) {
              o.partition = {0x8123, 0};
            }),
            "verbs: rxe0 port 1 has no partition key 0x8123 (--pkey); it has 0 (0xffff)");
  const SecondDevice second;  // with packets of 1024 bytes at most
  EXPECT_THAT(
      refusal([](VerbsOptions& o) {
        o.device = "rxe1";
        o.mtu = 4096;
      }),
      HasSubstr("rxe1 port 1 sends packets of 1024 bytes just now, and --mtu asks for 4096"));
}

TEST(Ports, CarryBytesWithEveryOptionSetAndWithDifferentMtus) {
  const std::uint8_t index = ipv6_index();
  run_ranks(
      2,
      [&](std::uint32_t rank) {
        VerbsOptions options;
        options.gid_index = index;
        options.traffic_class = 96;
        options.service_level = 3;
        options.partition = {std::nullopt, 0};
        options.mtu = rank == 0 ? 256 : 2048;
        options.ack_timeout = 14;
        options.retries = 5;
        return options;
      },
      [](Rank& rank) {
        rank.connect(kForth);
        pass_bytes(rank, std::byte{17});
      });
}

TEST(Ports, ThatDoNotReachEachOtherAreNamedAtBothEnds) {
  const std::uint8_t one = ipv4_index();
  const std::uint8_t other = ipv6_index();
  run_ranks(
      2,
      [&](std::uint32_t rank) {
        VerbsOptions options;
        options.gid_index = rank == 0 ? one : other;
        return options;
      },
      [](Rank& rank) {
        EXPECT_THAT(testing::error_of<EnvironmentError>([&] { rank.connect(kForth); }),
                    AllOf(HasSubstr("verbs: rank 0 has IPv4 (rxe0 port 1, RoCE v2, GID "),
                          HasSubstr("and rank 1 IPv6 (rxe0 port 1, RoCE v2, GID ")));
      });
}

VerbsOptions patient(milliseconds failure_timeout) {
  VerbsOptions options;
  options.failure_timeout = failure_timeout;
  return options;
}

// What poll() throws in the end; "" if nothing in a minute.
std::string thrown_by_polling(Rank& rank) {
  const auto end = Clock::now() + kLongestWait;
  while (Clock::now() < end) {
    hw::Completion completion;
    try {
      if (rank.transport().poll({&completion, 1}) == 0) {
        rank.transport().wait(milliseconds(100), -1);
      }
    } catch (const EnvironmentError& error) {
      return error.what();
    }
  }
  return "";
}

// What posting a send throws.
std::string thrown_by_posting(Rank& rank) {
  const WorkRequest made = request(RequestKind::kSend, {});
  return testing::error_of<EnvironmentError>([&] { rank.transport().post({&made, 1}); });
}

TEST(Outages, ShortOnesAreWaitedOut) {
  run_ranks(
      2, [](std::uint32_t) { return patient(seconds(30)); },
      [](Rank& rank) {
        rank.connect(kForth);
        pass_bytes(rank, std::byte{1});
        rank.meet();
        if (rank.index() == 0) {
          shell("ip link set rdma0 down");
          // Both see it, and post nothing meanwhile.
          hw::Completion none;
          const Segment local = rank.segment(0, 8);
          const WorkRequest made = request(RequestKind::kSend, {&local, 1});
          EXPECT_EQ(rank.transport().poll({&none, 1}), 0u);
          rank.transport().wait(seconds(1), -1);
          EXPECT_EQ(rank.transport().poll({&none, 1}), 0u);
          EXPECT_EQ(rank.transport().post({&made, 1}), 0u);
          std::this_thread::sleep_for(milliseconds(300));
          EXPECT_EQ(rank.transport().poll({&none, 1}), 0u);
          shell("ip link set rdma0 up");
        }
        for (int i = 2; i < 20; ++i) pass_bytes(rank, static_cast<std::byte>(i));
      });
}

TEST(Outages, LongOnesAreNamedAndEndAllWaiting) {
  run_ranks(
      2, [](std::uint32_t) { return patient(milliseconds(500)); },
      [](Rank& rank) {
        rank.connect(kForth);
        if (rank.index() == 1) {
          shell("ip link set rdma0 down");
          EXPECT_THAT(refusal([](VerbsOptions&) {}), HasSubstr("no port of rxe0 is active"));
        }
        EXPECT_THAT(thrown_by_polling(rank),
                    AllOf(HasSubstr("rxe0 port 1 went down (port error), and has not come back "
                                    "within 0.5 s (--failure-timeout)"),
                          HasSubstr("ibv_devinfo")));
        rank.meet();
        if (rank.index() == 1) shell("ip link set rdma0 up");
      });
}

TEST(Outages, WhatFailsInOneSaysThatThePortIsDown) {
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    if (rank.index() == 1) {
      rank.meet();
      std::this_thread::sleep_for(milliseconds(300));
      shell("ip link set rdma0 down");
      rank.meet();
      shell("ip link set rdma0 up");
      rank.meet();
      return;
    }
    // Is repeated for ever, since nobody receives it.
    rank.post(request(RequestKind::kSend, {}));
    rank.meet();
    EXPECT_THAT(thrown_by_polling(rank),
                AllOf(HasSubstr("rxe0 port 1 went down"), HasSubstr("port error")));
    // The channel is of no use any more; why, is told as long as it may be the port.
    EXPECT_THAT(thrown_by_posting(rank), HasSubstr("rxe0 port 1 went down (port error)"));
    rank.meet();
    rank.meet();
    EXPECT_THAT(thrown_by_posting(rank),
                AllOf(HasSubstr("channel 0 with rank 1"), HasSubstr("this rank's port was down")));
  });
}

}  // namespace
}  // namespace slackline::guest
