// Whoever reaches the port of a mesh and does not know its secret changes nothing, learns nothing
// and takes little.
#include <gtest/gtest.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "hw/mesh/join.h"
#include "hw/mesh/neighbours.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/hw/mesh_socket.h"
#include "tests/hw/resident.h"
#include "tests/hw/shared_number.h"
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

void join(const MeshOptions& options, const MeshRanks::Say& say) {
  const long before = testing::resident_kib();
  Mesh mesh(options);
  mesh.barrier();
  const long more = testing::resident_kib() - before;
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
  MeshOptions patient = ranks.options(0, 2);
  patient.join_timeout = std::chrono::minutes(10);  // as long as the strangers take
  ranks.start(patient, join);
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
    MeshOptions patient = ranks.options(r, 3);
    patient.join_timeout = std::chrono::minutes(10);
    ranks.start(patient, join);
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

std::set<std::string> sockets_of(pid_t pid) {
  std::set<std::string> sockets;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid))) {
    std::error_code error;
    const std::string name = std::filesystem::read_symlink(entry, error).string();
    if (name.starts_with("socket:[")) sockets.insert(name.substr(8, name.size() - 9));
  }
  return sockets;
}

// Where a process listens, by the kernel's tables; not what it was forked with.
std::vector<std::uint16_t> listening_ports(pid_t pid) {
  std::set<std::string> sockets = sockets_of(pid);
  for (const std::string& socket : sockets_of(getpid())) sockets.erase(socket);
  std::vector<std::uint16_t> ports;
  std::ifstream table("/proc/net/tcp");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream words(line);
    std::string word, local, remote, state, inode;
    words >> word >> local >> remote >> state;
    for (int i = 0; i < 6; ++i) words >> inode;
    constexpr const char* kListens = "0A";
    if (state != kListens || !sockets.contains(inode)) continue;
    ports.push_back(
        static_cast<std::uint16_t>(std::stoul(local.substr(local.find(':') + 1), nullptr, 16)));
  }
  return ports;
}

// Ranks of a sparse mesh go on listening, for those that meet later. Strangers come while they
// gather and meet.
TEST(MeshStrangers, ChangeNothingWhileASparseMeshIsAtWork) {
  constexpr std::uint32_t kRanks = 6;  // of 6, ranks 1 and 4 are no neighbours
  ASSERT_FALSE(hw::are_neighbours(1, 4, kRanks, 1));
  testing::SharedNumber strangers_gone;
  MeshRanks ranks;
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    MeshOptions options = ranks.options(r, kRanks);
    options.full_up_to = 1;
    ranks.start(options, [&](const MeshOptions& own, const MeshRanks::Say& say) {
      Mesh mesh(own);
      mesh.barrier();
      say("joined");
      const long before = testing::resident_kib();
      for (bool last = false; !last;) {
        const Bytes mine(1, std::byte{strangers_gone.get() != 0});
        const std::vector<Bytes> all = mesh.all_gather(mine);
        last = all[0] == Bytes(1, std::byte{1});
        if (all.size() != kRanks) say("gathered wrongly");
      }
      // Not before the strangers have come.
      const std::uint32_t other = own.rank == 1 ? 4 : 1;
      if (own.rank == 1 || own.rank == 4) {
        mesh.send(other, 7, Bytes(own.rank));
        if (mesh.receive(other, 7) != Bytes(other)) say("met wrongly");
      }
      mesh.barrier();
      const long more = testing::resident_kib() - before;
      say(more < 16 << 10 || testing::kSanitized ? fmt::format("{} lost", mesh.lost().size())
                                                 : fmt::format("{} KiB more", more));
    });
  }
  for (std::size_t r = 0; r < kRanks; ++r) ASSERT_EQ(ranks.next(r), "joined");
  for (std::uint32_t r = 1; r < kRanks; ++r) {
    const std::vector<std::uint16_t> ports = listening_ports(ranks.pid(r));
    ASSERT_EQ(ports.size(), 1u) << r;
    Strangers strangers(ports[0], 3 + r, words_of_a_rank(ranks.secret()));
    for (int i = 0; i < testing::cases(100); ++i) {
      ASSERT_NO_FATAL_FAILURE(strangers.come()) << r << " " << i;
    }
  }
  strangers_gone.set(1);
  for (std::size_t r = 0; r < kRanks; ++r) EXPECT_EQ(ranks.next(r), "0 lost");
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
