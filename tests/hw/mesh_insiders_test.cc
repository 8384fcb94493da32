// A peer that knows the secret may say anything, in any order: a join ends with a word, or goes on;
// a mesh goes on, or names who said it. SLACKLINE_ATTACKS says how many sequences of words each
// test tries.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "hw/local_port.h"
#include "hw/mesh/wire.h"
#include "tests/hw/insider_rank.h"
#include "tests/hw/mesh_socket.h"
#include "tests/hw/resident.h"
#include "tests/support/asked_count.h"
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
constexpr std::uint64_t kMostUnread = 1 << 20;

// One after the other, some at a time. What they leave behind is little.
void try_each(std::uint32_t usual, const std::function<void(std::uint32_t seed)>& one) {
  constexpr std::uint32_t kAtOnce = 60;
  const std::uint32_t count = testing::asked_count("SLACKLINE_ATTACKS", testing::cases(usual));
  const long before = testing::resident_kib();
  long most = 0;
  for (std::uint32_t first = 0; first < count; first += kAtOnce) {
    std::vector<std::thread> all;
    for (std::uint32_t seed = first; seed < std::min(count, first + kAtOnce); ++seed) {
      all.emplace_back(one, seed);
    }
    for (std::thread& thread : all) thread.join();
    most = std::max(most, testing::resident_kib() - before);
  }
  ::testing::Test::RecordProperty("most_kib_more", std::to_string(most));
  // Each has two ranks at the most, with a bound each, and stacks.
  const long bound = kAtOnce * 2 * static_cast<long>(kMostUnread >> 10) + (64 << 10);
  EXPECT_TRUE(most < bound || testing::kSanitized) << most << " KiB more";
}

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
    // Whatever belongs to it: a verdict's payload is a loss's, too.
    told_of_a_loss_ = told_of_a_loss_ || kind == FrameKind::kLost;
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

  // A word of an established mesh: of any topic and size, and perhaps only a part of it.
  Bytes word() {
    if (random_() % 2 == 0) return frame();
    const bool gathers = random_() % 2 == 0;
    Bytes payload(random_() % (random_() % 16 == 0 ? 200'000 : 100));
    for (std::byte& byte : payload) byte = static_cast<std::byte>(random_());
    hw::FrameHeader header{gathers ? FrameKind::kGather : FrameKind::kMessage, topic(),
                           payload.size()};
    if (random_() % 8 == 0) header.left = random_() >> (random_() % 64);
    return hw::WireWriter().raw(encode(header)).raw(payload).take();
  }
  // Whether it has told of a loss, so that others may name whom it named.
  bool told_of_a_loss() const { return told_of_a_loss_; }

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
        return encode(hw::JoinVerdict{draw() % 5, draw() % 5, "a word"});
      case FrameKind::kLost:
        told_of_a_loss_ = true;
        return encode(hw::Loss{draw() % 5, "a word", draw() % 5});
      case FrameKind::kClockAsk:
        return hw::WireWriter().u64(random_()).take();
      case FrameKind::kClockTell:
        return hw::WireWriter().u64(random_()).u64(random_()).take();
      default:
        return Bytes(random_() % 50);
    }
  }

  // Of groups, calls and sessions, or any.
  std::uint32_t topic() {
    static constexpr std::array<std::uint32_t, 6> kTopics{0,      0x5200,      0x5210,
                                                          0x5300, 0x48000000u, 0x49000000u};
    return random_() % 4 == 0 ? draw() : kTopics[random_() % kTopics.size()] + draw() % 3;
  }

  std::mt19937_64 random_;
  bool told_of_a_loss_ = false;
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
  options.most_unread_bytes = kMostUnread;
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
  try_each(60, one);
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
  try_each(60, one);
}

// What a rank of an established mesh came to: whom it lost, or who left because of that.
std::string gather_until_lost(const MeshOptions& options) {
  try {
    Mesh mesh(options);
    if (options.rank == 1) mesh.follow_clock();
    for (;;) {
      mesh.all_gather(Bytes(options.rank * 3));
      mesh.try_receive(2, 0);
    }
  } catch (const hw::PeerLost& error) {
    if (std::string_view(error.what()).find(" has left") != std::string_view::npos) return "left";
    return std::to_string(error.rank());
  } catch (const Error& error) {
    return error.what();
  }
}

// Ranks 0 and 1 gather without end, and rank 2 says anything to both: in meshes that are full, and
// in those that gather by neighbours.
TEST(MeshInsiders, AnythingSaidAfterTheWordToGoNamesWhoSaidIt) {
  const hw::Secret secret = hw::Secret::random();
  const auto one = [&](std::uint32_t seed) {
    const hw::LocalPort port;
    const auto options = [&](std::uint32_t rank) {
      MeshOptions made = options_of(rank, port, secret);
      made.join_timeout = 60s;
      made.failure_timeout = 30s;
      made.full_up_to = seed % 2 == 0 ? hw::kFullMeshRanks : 1;
      return made;
    };
    std::array<std::string, 2> ends;
    std::array<std::thread, 2> ranks;
    for (std::uint32_t r = 0; r < 2; ++r) {
      ranks[r] = std::thread([&, r] { ends[r] = gather_until_lost(options(r)); });
    }
    Talker talker(seed);
    testing::InsiderRank insider(options(2), port.port());
    EXPECT_TRUE(insider.joined());
    if (insider.joined()) {
      for (std::uint32_t i = talker.draw() % 24; i > 0; --i) {
        insider.to(talker.draw() % 2).put(talker.word());
      }
    }
    insider.leave();
    for (std::thread& rank : ranks) rank.join();
    if (talker.told_of_a_loss()) {
      for (const std::string& end : ends) EXPECT_EQ(end.find('\n'), std::string::npos) << end;
      return;
    }
    EXPECT_TRUE(ends[0] == "2" || ends[1] == "2") << ends[0] << ", " << ends[1];
    for (const std::string& end : ends) EXPECT_TRUE(end == "2" || end == "left") << end;
  };
  try_each(40, one);
}

}  // namespace
}  // namespace slackline
