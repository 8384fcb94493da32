// Whoever reaches the port of a mesh and does not know its secret changes nothing, learns nothing
// and takes little.
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <random>

#include "hw/mesh/join.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/hw/mesh_socket.h"
#include "tests/support/sanitized.h"

namespace slackline {
namespace {

using hw::Bytes;
using hw::Mesh;
using hw::MeshOptions;
using testing::connected_to;
using testing::get;
using testing::Insider;
using testing::MeshRanks;
using testing::put;

long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return -1;
}

void join(const MeshOptions& options, const MeshRanks::Say& say) {
  const long before = resident_kib();
  Mesh mesh(options);
  mesh.barrier();
  const long more = resident_kib() - before;
  say(more < 16 << 10 || testing::kSanitized ? "joined" : fmt::format("joined, {} KiB more", more));
}

// Strangers come one after the other, each with a few words of its own choice.
class Strangers {
 public:
  Strangers(std::uint16_t port, std::uint32_t seed, Bytes overheard)
      : port_(port), random_(seed), overheard_(std::move(overheard)) {}

  void come() {
    hw::Descriptor socket = connected_to(port_);
    ASSERT_TRUE(socket);
    const bool hears = speak(socket);
    if (hears) {
      // Half of a greeting, and no word after it: not even whether it was wrong.
      shutdown(socket.get(), SHUT_WR);
      const std::size_t heard = get(socket, 4096).size();
      ASSERT_TRUE(heard == 0 || heard == hw::kKeyHalfBytes) << heard;
    }
    if (random_() % 4 == 0) {  // ends with a reset
      const linger at_once{1, 0};
      setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    } else if (random_() % 4 == 0) {  // stays
      staying_.push_back(std::move(socket));
      if (staying_.size() > 100) staying_.pop_front();
    }
  }

 private:
  Bytes garbage(std::size_t most) {
    Bytes bytes(random_() % most);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
    return bytes;
  }

  // Whether what it hears is to be looked at.
  bool speak(const hw::Descriptor& socket) {
    switch (random_() % 9) {
      case 0:
        return false;
      case 1:
        put(socket, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        return true;
      case 2:
        put(socket, garbage(5000));
        return false;
      case 3:  // part of a greeting
        put(socket, garbage(hw::kKeyHalfBytes));
        return true;
      case 4: {  // a key with which all have the same in common
        Bytes zero(hw::kKeyHalfBytes + hw::kProofBytes);
        zero[0] = static_cast<std::byte>(random_() % 2);
        put(socket, zero);
        return true;
      }
      case 5: {  // what a rank once said
        put(socket, std::span(overheard_).first(random_() % (overheard_.size() + 1)));
        return true;
      }
      case 6: {  // a whole greeting and a proof that is none
        Bytes words(hw::kKeyHalfBytes + hw::kProofBytes);
        for (std::byte& byte : words) byte = static_cast<std::byte>(random_());
        put(socket, words);
        return true;
      }
      case 7: {  // the listener's own words
        const hw::KeyExchange greeting(std::nullopt);
        put(socket, greeting.mine());
        Bytes its = get(socket, hw::kKeyHalfBytes);
        if (its.size() != hw::kKeyHalfBytes) return false;
        its.resize(hw::kProofBytes);
        put(socket, its);
        return false;
      }
      default: {  // another secret, or none, and then a long record
        const hw::KeyExchange greeting(random_() % 2 == 0 ? std::optional(hw::Secret::random())
                                                          : std::nullopt);
        put(socket, greeting.mine());
        const Bytes its = get(socket, hw::kKeyHalfBytes);
        if (its.size() != hw::kKeyHalfBytes) return false;
        const auto seal = greeting.agree(std::span(its).first<hw::kKeyHalfBytes>(), true);
        Bytes records;
        seal->append({}, {}, records);
        if (random_() % 2 == 0) seal->append(garbage(3000), {}, records);
        put(socket, records);
        EXPECT_LE(get(socket, 1).size(), 0u);
        return false;
      }
    }
  }

  std::uint16_t port_;
  std::mt19937 random_;
  Bytes overheard_;
  std::deque<hw::Descriptor> staying_;
};

// Bytes that a rank of the run sends first, as somebody on the way would record them.
Bytes words_of_a_rank(const hw::Secret& secret) {
  const hw::KeyExchange one(secret);
  const hw::KeyExchange other(secret);
  Bytes words(one.mine().begin(), one.mine().end());
  one.agree(other.mine(), true)->append({}, {}, words);
  hw::Hello hello;
  hello.rank = 1;
  hello.ranks = 2;
  words.resize(words.size() + encode(hello).size());
  return words;
}

TEST(MeshStrangers, ChangeNothing) {
  MeshRanks ranks;
  ranks.start(ranks.options(0, 2), join);
  Strangers strangers(ranks.port().port(), 1, words_of_a_rank(ranks.secret()));
  for (int i = 0; i < testing::cases(10'000); ++i) {
    ASSERT_NO_FATAL_FAILURE(strangers.come()) << i;
  }
  ranks.start(ranks.options(1, 2), join);
  EXPECT_EQ(ranks.next(0), "joined");
  EXPECT_EQ(ranks.next(1), "joined");
}

// They come to the ranks that listen for higher ranks, too.
TEST(MeshStrangers, ChangeNothingAtOtherRanks) {
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < 2; ++r) {
    ranks.start(ranks.options(r, 3), join);
  }
  // Rank 2 stops half-way: it has come to the root, which tells it where rank 1 listens.
  hw::Hello hello = hw::hello_of(ranks.options(2, 3));
  hello.member.address = "127.0.0.1";
  hello.member.port = 1;
  Insider root(connected_to(ranks.port().port()), ranks.secret());
  ASSERT_TRUE(root.known());
  root.put(encode(hello));
  const testing::RootsWord told = testing::told_by_root(root);
  ASSERT_EQ(told.members.size(), 3u);
  const auto port = static_cast<std::uint16_t>(told.members[1].port);
  Strangers strangers(port, 2, words_of_a_rank(ranks.secret()));
  for (int i = 0; i < testing::cases(1'000); ++i) {
    ASSERT_NO_FATAL_FAILURE(strangers.come()) << i;
  }
  Insider other(connected_to(port), ranks.secret());
  ASSERT_TRUE(other.known());
  hello.run = told.run;
  other.put(encode(hello));
  root.put(hw::encode_frame(hw::FrameKind::kReady));
  // The word to go, and then the first words of the barrier.
  const auto go = root.next();
  ASSERT_TRUE(go);
  EXPECT_EQ(hw::decode_header(std::span(*go).first<hw::kHeaderBytes>()).kind, hw::FrameKind::kGo);
}

// Of connections that say nothing the oldest make room for those that come.
TEST(MeshStrangers, AreHeardAFewAtATime) {
  MeshRanks ranks;
  ranks.start(ranks.options(0, 2), join);
  constexpr std::size_t kAtOnce = 64 + 2 * 2;
  const auto open_files = [&] {
    const std::string folder = fmt::format("/proc/{}/fd", ranks.pid(0));
    return std::distance(std::filesystem::directory_iterator(folder), {});
  };
  hw::Descriptor first = connected_to(ranks.port().port());
  ASSERT_TRUE(first);
  put(first, Bytes(hw::kKeyHalfBytes, std::byte{9}));
  ASSERT_EQ(get(first, hw::kKeyHalfBytes).size(), hw::kKeyHalfBytes);
  const auto before = open_files();
  std::vector<hw::Descriptor> silent;
  for (std::size_t i = 0; i < 4 * kAtOnce; ++i) {
    silent.push_back(connected_to(ranks.port().port()));
    ASSERT_TRUE(silent.back());
    put(silent.back(), Bytes(hw::kKeyHalfBytes, std::byte{9}));
    // It has been taken in, or has had to go already.
    EXPECT_LE(get(silent.back(), hw::kKeyHalfBytes).size(), hw::kKeyHalfBytes);
    ASSERT_LE(open_files(), before + static_cast<std::ptrdiff_t>(kAtOnce) + 1);
  }
  ranks.start(ranks.options(1, 2), join);
  EXPECT_EQ(ranks.next(0), "joined");
  EXPECT_EQ(ranks.next(1), "joined");
}

}  // namespace
}  // namespace slackline
