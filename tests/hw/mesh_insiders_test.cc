// A peer that knows the secret may say anything, in any order: the join ends with a word, or goes
// on.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "hw/local_port.h"
#include "hw/mesh/wire.h"
#include "tests/hw/mesh_socket.h"
#include "tests/support/sanitized.h"

namespace slackline {
namespace {

using hw::Bytes;
using hw::FrameKind;
using hw::Mesh;
using hw::MeshOptions;
using testing::connected_to;
using testing::Insider;
using namespace std::chrono_literals;

constexpr std::uint32_t kRanks = 3;

class Talker {
 public:
  explicit Talker(std::uint32_t seed) : random_(seed) {}

  // A frame of any kind, with what belongs to it, part of that, or anything.
  Bytes frame() {
    static constexpr std::array kKinds{
        FrameKind::kWelcome,  FrameKind::kTable,    FrameKind::kReady,     FrameKind::kWaiting,
        FrameKind::kVerdict,  FrameKind::kGo,       FrameKind::kHeartbeat, FrameKind::kLost,
        FrameKind::kFarewell, FrameKind::kClockAsk, FrameKind::kClockTell, FrameKind::kMessage,
        FrameKind::kGather};
    const FrameKind kind = kKinds[random_() % kKinds.size()];
    Bytes payload = payload_of(random_() % 8 == 0 ? kKinds[random_() % kKinds.size()] : kind);
    if (random_() % 8 == 0) payload.resize(random_() % (payload.size() + 20));
    Bytes frame = hw::encode_frame(kind, payload);
    if (random_() % 16 == 0) frame[random_() % hw::kHeaderBytes] ^= std::byte{0x40};
    return frame;
  }

  Bytes hello() {
    hw::Hello hello;
    hello.rank = static_cast<std::uint32_t>(random_() % 8 == 0 ? random_() : 1 + random_() % 2);
    hello.ranks = random_() % 8 == 0 ? static_cast<std::uint32_t>(random_()) : kRanks;
    hello.version = random_() % 8 == 0 ? "other" : "1";
    hello.agreed = {"failure timeout: 2000 ms"};
    hello.member = {"elsewhere", 1, "127.0.0.1", 1};
    if (random_() % 8 == 0) hello.protocol = 99;
    Bytes bytes = encode(hello);
    if (random_() % 8 == 0) bytes[random_() % bytes.size()] ^= static_cast<std::byte>(random_());
    if (random_() % 16 == 0) bytes.resize(random_() % bytes.size());
    return bytes;
  }

  std::uint32_t draw() { return static_cast<std::uint32_t>(random_()); }

 private:
  Bytes payload_of(FrameKind kind) {
    switch (kind) {
      case FrameKind::kWelcome:
        return hw::WireWriter().u64(random_()).take();
      case FrameKind::kTable: {
        const std::vector<hw::Member> members(random_() % 5,
                                              {"elsewhere", 1, "127.0.0.1", draw() % 70'000});
        return hw::WireWriter()
            .u64(random_() % 2 == 0 ? 100 : random_())
            .raw(encode(members))
            .take();
      }
      case FrameKind::kVerdict:
        return encode(hw::Verdict{draw() % 5, draw() % 5, "a word"});
      case FrameKind::kLost:
        return encode(hw::Loss{draw() % 5, "a word", draw() % 5});
      case FrameKind::kClockAsk:
        return hw::WireWriter().u64(random_()).take();
      case FrameKind::kClockTell:
        return hw::WireWriter().u64(random_()).u64(random_()).take();
      default:
        return Bytes(random_() % 50);
    }
  }

  std::mt19937_64 random_;
};

MeshOptions options_of(std::uint32_t rank, const hw::LocalPort& port, const hw::Secret& secret) {
  MeshOptions options;
  options.rank = rank;
  options.ranks = kRanks;
  options.root = port.address();
  options.root_socket = port.socket();
  options.secret = secret;
  options.version = "1";
  options.join_timeout = 1s;
  options.failure_timeout = 2s;
  return options;
}

// What a rank came to, in one line.
std::string join(const MeshOptions& options) {
  try {
    Mesh mesh(options);
    mesh.barrier();
    return "joined";
  } catch (const Error& error) {
    return error.what();
  }
}

// Rank 0 listens, and two talkers come, as ranks 1 and 2 or as others.
TEST(MeshInsiders, AnythingSaidToRank0EndsWithAWord) {
  const hw::Secret secret = hw::Secret::random();
  const auto one = [&](std::uint32_t seed) {
    const hw::LocalPort port;
    std::string end;
    std::thread root([&] { end = join(options_of(0, port, secret)); });
    Talker talker(seed);
    std::array<hw::Descriptor, 2> sockets;
    for (hw::Descriptor& socket : sockets) socket = connected_to(port.port());
    for (hw::Descriptor& socket : sockets) {
      Insider insider(std::move(socket), secret);
      if (!insider.known()) continue;
      insider.put(talker.hello());
      for (std::uint32_t i = talker.draw() % 12; i > 0; --i) insider.put(talker.frame());
    }
    root.join();
    EXPECT_FALSE(end.empty());
    EXPECT_EQ(end.find('\n'), std::string::npos) << end;
  };
  std::vector<std::thread> all;
  for (std::uint32_t seed = 0; seed < testing::cases(60u); ++seed) all.emplace_back(one, seed);
  for (std::thread& thread : all) thread.join();
}

// A talker listens where rank 0 should, and rank 1 comes.
TEST(MeshInsiders, AnythingThatRank0SaysEndsWithAWord) {
  const hw::Secret secret = hw::Secret::random();
  const auto one = [&](std::uint32_t seed) {
    const hw::LocalPort port;
    ASSERT_EQ(listen(port.socket(), 16), 0);
    std::string end;
    std::thread rank([&] { end = join(options_of(1, port, secret)); });
    Talker talker(seed);
    Insider insider(testing::accepted(port), secret, false);
    if (insider.known()) {
      if (talker.draw() % 2 == 0) {
        insider.put(hw::encode_frame(FrameKind::kWelcome, hw::WireWriter().u64(7).take()));
      }
      for (std::uint32_t i = talker.draw() % 12; i > 0; --i) insider.put(talker.frame());
    }
    insider.leave();
    rank.join();
    EXPECT_FALSE(end.empty());
    EXPECT_EQ(end.find('\n'), std::string::npos) << end;
  };
  std::vector<std::thread> all;
  for (std::uint32_t seed = 0; seed < testing::cases(60u); ++seed) all.emplace_back(one, seed);
  for (std::thread& thread : all) thread.join();
}

}  // namespace
}  // namespace slackline
