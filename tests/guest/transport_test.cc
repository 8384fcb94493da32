// The verbs transport, request by request, between processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "base/error.h"
#include "hw/pages.h"
#include "tests/guest/ranks.h"

namespace slackline::guest {
namespace {

using hw::RequestKind;
using hw::Segment;
using hw::WorkRequest;

constexpr std::size_t kInto = 2u << 20;
// Around 0, a word, what goes inline, a packet; and one large.
constexpr std::size_t kSizes[] = {0, 1, 8, 255, 256, 257, 4095, 4096, 4097, 1'000'003};
constexpr Rank::Channel kForth[] = {{0, 0, 1}};

std::byte value(std::size_t i, std::size_t seed) {
  return static_cast<std::byte>((i * 131 + (i >> 8) * 7 + seed * 29 + 1) & 0xff);
}

void fill(Rank& rank, std::size_t offset, std::size_t bytes, std::size_t seed) {
  for (std::size_t i = 0; i < bytes; ++i) rank.memory()[offset + i] = value(i, seed);
}

std::size_t wrong(Rank& rank, std::size_t offset, std::size_t bytes, std::size_t seed) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < bytes; ++i) count += rank.memory()[offset + i] != value(i, seed);
  return count;
}

void clear(Rank& rank) {
  std::fill(rank.memory().begin() + kInto, rank.memory().end(), std::byte{0});
}

std::uint64_t word(Rank& rank, std::size_t offset) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, rank.memory().data() + offset, sizeof bits);
  return bits;
}

WorkRequest request(RequestKind kind, std::uint64_t tag, std::span<const Segment> local,
                    std::uint32_t channel = 0) {
  WorkRequest made;
  made.kind = kind;
  made.channel = channel;
  made.tag = tag;
  made.local = local;
  return made;
}

TEST(Transport, SendsWithTheirImmediate) {
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    for (std::size_t s = 0; s < std::size(kSizes); ++s) {
      clear(rank);
      const Segment local = rank.segment(rank.index() == 0 ? 0 : kInto, kSizes[s]);
      WorkRequest made =
          request(rank.index() == 0 ? RequestKind::kSend : RequestKind::kRecv, s, {&local, 1});
      made.immediate = static_cast<std::uint32_t>(0xA0000000u + s);
      fill(rank, 0, kSizes[s], s);
      rank.post(made);
      const hw::Completion done = rank.next();
      EXPECT_EQ(done.tag, s);
      EXPECT_EQ(done.kind, made.kind);
      if (rank.index() == 1) {
        EXPECT_EQ(done.immediate, made.immediate);
        EXPECT_EQ(done.bytes, kSizes[s]);
        EXPECT_EQ(wrong(rank, kInto, kSizes[s], s), 0u) << kSizes[s];
        EXPECT_EQ(rank.memory()[kInto + kSizes[s]], std::byte{0});
      }
    }
  });
}

TEST(Transport, WritesWithAndWithoutImmediate) {
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    for (std::size_t s = 0; s < std::size(kSizes); ++s) {
      clear(rank);
      rank.meet();
      if (rank.index() == 0) {
        // Without, then with: the second tells of both.
        fill(rank, 0, kSizes[s], s);
        fill(rank, 1 << 20, kSizes[s], s + 1);
        for (const bool imm : {false, true}) {
          const Segment local = rank.segment(imm ? 1 << 20 : 0, kSizes[s]);
          WorkRequest made =
              request(imm ? RequestKind::kWriteImm : RequestKind::kWrite, s, {&local, 1});
          made.remote = rank.remote(1, kInto + (imm ? 1 << 20 : 0));
          made.immediate = static_cast<std::uint32_t>(s);
          rank.post(made);
        }
        EXPECT_EQ(rank.next().kind, RequestKind::kWrite);
        EXPECT_EQ(rank.next().kind, RequestKind::kWriteImm);
      } else {
        WorkRequest made = request(RequestKind::kRecv, s, {});
        made.expects_write = true;
        rank.post(made);
        const hw::Completion done = rank.next();
        EXPECT_EQ(done.immediate, s);
        EXPECT_EQ(wrong(rank, kInto, kSizes[s], s), 0u) << kSizes[s];
        EXPECT_EQ(wrong(rank, kInto + (1 << 20), kSizes[s], s + 1), 0u) << kSizes[s];
      }
    }
  });
}

TEST(Transport, ReadsAndAtomics) {
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    if (rank.index() == 1) {
      fill(rank, 0, 1'000'003, 7);
      std::memset(rank.memory().data() + kInto, 0, 8);
    }
    rank.meet();
    if (rank.index() == 0) {
      for (const std::size_t bytes : kSizes) {
        const Segment local = rank.segment(kInto, bytes);
        WorkRequest made = request(RequestKind::kRead, bytes, {&local, 1});
        made.remote = rank.remote(1, 0);
        rank.post(made);
        EXPECT_EQ(rank.next().tag, bytes);
        EXPECT_EQ(wrong(rank, kInto, bytes, 7), 0u) << bytes;
      }
      const Segment local = rank.segment(8, 8);
      const auto atomic = [&](RequestKind kind, std::uint64_t operand, std::uint64_t compare) {
        WorkRequest made = request(kind, 1, {&local, 1});
        made.remote = rank.remote(1, kInto);
        made.operand = operand;
        made.compare = compare;
        rank.post(made);
        rank.next();
        return word(rank, 8);
      };
      EXPECT_EQ(atomic(RequestKind::kFetchAdd, 5, 0), 0u);
      EXPECT_EQ(atomic(RequestKind::kFetchAdd, 0xffffffff00000000u, 0), 5u);
      EXPECT_EQ(atomic(RequestKind::kCompareSwap, 9, 4), 0xffffffff00000005u);
      EXPECT_EQ(atomic(RequestKind::kCompareSwap, 9, 0xffffffff00000005u), 0xffffffff00000005u);
      EXPECT_EQ(atomic(RequestKind::kFetchAdd, 0, 0), 9u);
      WorkRequest odd = request(RequestKind::kFetchAdd, 1, {&local, 1});
      odd.remote = rank.remote(1, kInto + 4);
      EXPECT_THROW(rank.transport().post({&odd, 1}), InputError);
    }
    rank.meet();
    if (rank.index() == 1) {
      EXPECT_EQ(word(rank, kInto), 9u);
    }
  });
}

TEST(Transport, GathersAndScattersAsManySegmentsAsItSays) {
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    const std::size_t count = rank.transport().max_segments();
    EXPECT_GE(count, 4u);
    // Pieces of 0, 1, … bytes, apart by twice their size, inline together; then larger ones.
    for (const std::size_t unit : {1, 1000}) {
      std::vector<Segment> pieces;
      std::size_t total = 0;
      for (std::size_t i = 0; i < count; ++i) {
        pieces.push_back(rank.segment(2 * total, i * unit));
        for (std::size_t b = 0; b < i * unit && rank.index() == 0; ++b) {
          pieces[i].data[b] = value(total + b, unit);
        }
        total += i * unit;
      }
      const Segment whole = rank.segment(kInto, total);
      const bool sends = rank.index() == 0;
      rank.post(request(sends ? RequestKind::kSend : RequestKind::kRecv, 0,
                        sends ? std::span<const Segment>(pieces) : std::span(&whole, 1)));
      rank.next();
      EXPECT_EQ(sends ? 0 : wrong(rank, kInto, total, unit), 0u);
      rank.meet();
      // And the other way about: one send into many pieces, by a read.
      if (!sends) continue;
      WorkRequest back = request(RequestKind::kRead, 1, pieces);
      back.remote = rank.remote(1, kInto);
      for (const Segment& piece : pieces) std::fill_n(piece.data, piece.bytes, std::byte{0});
      rank.post(back);
      rank.next();
      std::size_t at = 0;
      for (const Segment& piece : pieces) {
        for (std::size_t b = 0; b < piece.bytes; ++b) {
          EXPECT_EQ(piece.data[b], value(at++, unit));
        }
      }
    }
  });
}

TEST(Transport, HoldsBackReceivesThatFindNoRoomAndSendsWaitForThem) {
  constexpr std::uint32_t kMessages = 3000;
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    std::vector<Segment> words;
    std::vector<WorkRequest> requests;
    for (std::uint32_t m = 0; m < kMessages; ++m) words.push_back(rank.segment(8 * m, 8));
    for (std::uint32_t m = 0; m < kMessages; ++m) {
      requests.push_back(
          request(rank.index() == 0 ? RequestKind::kSend : RequestKind::kRecv, m, {&words[m], 1}));
      requests.back().immediate = m;
      if (rank.index() == 0) std::memcpy(words[m].data, &m, sizeof m);
    }
    if (rank.index() == 1) {
      // All of them at once.
      EXPECT_EQ(rank.transport().post(requests), requests.size());
    } else {
      rank.post(requests);
    }
    for (std::uint32_t m = 0; m < kMessages; ++m) {
      const hw::Completion done = rank.next();
      ASSERT_EQ(done.tag, m);
      if (rank.index() == 1) {
        ASSERT_EQ(done.immediate, m);
        ASSERT_EQ(word(rank, 8 * m), m);
      }
    }
  });
}

TEST(Transport, CountsTheRoomOfSilentRequestsAndGetsItBack) {
  constexpr std::uint32_t kWrites = 5000;
  run_ranks(2, [](Rank& rank) {
    rank.connect(kForth);
    clear(rank);
    rank.meet();
    if (rank.index() == 0) {
      EXPECT_TRUE(rank.transport().completes_in_order());
      std::vector<std::uint64_t> numbers(kWrites);
      std::vector<Segment> words;
      std::vector<WorkRequest> requests;
      for (std::uint32_t w = 0; w < kWrites; ++w) {
        const std::uint64_t number = w + 1;
        words.push_back(rank.segment(8 * w, 8));
        std::memcpy(words.back().data, &number, sizeof number);
      }
      for (std::uint32_t w = 0; w < kWrites; ++w) {
        requests.push_back(request(RequestKind::kWrite, w, {&words[w], 1}));
        requests.back().signalled = w + 1 == kWrites;
        requests.back().remote = rank.remote(1, kInto + 8 * w);
      }
      // Never more than there is room for, although the device takes them away at once.
      const std::size_t room = rank.transport().post(requests);
      EXPECT_GE(room, 16u);
      EXPECT_LT(room, kWrites / 2);
      EXPECT_EQ(rank.transport().post(std::span(requests).subspan(room)), 0u);
      rank.post(std::span(requests).subspan(room));
      // One completion, and it speaks for all.
      EXPECT_EQ(rank.next().tag, kWrites - 1);
    }
    rank.meet();
    if (rank.index() == 1) {
      for (std::uint32_t w = 0; w < kWrites; ++w) ASSERT_EQ(word(rank, kInto + 8 * w), w + 1);
    }
  });
}

TEST(Transport, ManyChannelsInMoreThanOneCompletionQueue) {
  constexpr std::uint32_t kChannels = 40;
  std::vector<Rank::Channel> channels;
  for (std::uint32_t c = 0; c < kChannels; ++c) channels.push_back({1000 * c, c % 2, 1 - c % 2});
  run_ranks(2, [&](Rank& rank) {
    rank.connect(channels);
    for (int round = 0; round < 3; ++round) {
      for (const Rank::Channel& channel : channels) {
        WorkRequest made =
            request(rank.index() == channel.from ? RequestKind::kSend : RequestKind::kRecv,
                    channel.number, {}, channel.number);
        made.immediate = channel.number + 1;
        rank.post(made);
      }
      std::set<std::uint64_t> seen;
      for (std::uint32_t c = 0; c < kChannels; ++c) {
        const hw::Completion done = rank.next();
        seen.insert(done.tag);
        EXPECT_EQ(done.immediate, done.kind == RequestKind::kRecv ? done.tag + 1 : 0);
      }
      EXPECT_EQ(seen.size(), kChannels);
    }
  });
}

TEST(Transport, ChannelsAreOpenedLaterAndTheirNumbersAgain) {
  run_ranks(3, [](Rank& rank) {
    const auto pass = [&](std::uint32_t channel, std::uint32_t from, std::uint32_t to) {
      if (rank.index() != from && rank.index() != to) return;
      rank.post(request(rank.index() == from ? RequestKind::kSend : RequestKind::kRecv, channel, {},
                        channel));
      EXPECT_EQ(rank.next().tag, channel);
    };
    const Rank::Channel first[] = {{0, 0, 1}, {1, 1, 2}};
    const auto ends = rank.connect(first);
    pass(0, 0, 1);
    const Rank::Channel second[] = {{2, 2, 0}};
    rank.connect(second);
    pass(2, 2, 0);
    pass(1, 1, 2);
    rank.meet();
    rank.transport().close(ends);
    const WorkRequest closed = request(RequestKind::kSend, 0, {}, 1);
    EXPECT_THROW(rank.transport().post({&closed, 1}), InternalError);
    // The same numbers, between others.
    const Rank::Channel third[] = {{0, 2, 1}, {1, 0, 2}};
    for (int again = 0; again < 5; ++again) {
      const auto opened = rank.connect(third);
      pass(0, 2, 1);
      pass(1, 0, 2);
      pass(2, 2, 0);
      rank.meet();
      rank.transport().close(opened);
    }
  });
}

// Sets huge pages aside for as long as it lives.
class HugePages {
 public:
  explicit HugePages(int count) { set(count); }
  ~HugePages() { set(0); }
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;

 private:
  static void set(int count) { std::ofstream("/proc/sys/vm/nr_hugepages") << count << '\n'; }
};

TEST(Transport, MovesBytesOfSlabsInHugePagesThatAreSetAside) {
  const HugePages huge(16);
  run_ranks(2, [](Rank& rank) {
    EXPECT_TRUE(hw::Pages(4u << 20, rank.transport().numa_node()).set_aside());
    // More than there are: the rest are small ones.
    EXPECT_FALSE(hw::Pages(64u << 20).set_aside());
    hw::Slabs slabs(rank.transport(), 100'000, 30);
    rank.connect(kForth);
    for (std::size_t u = 0; u < 40; ++u) {
      const hw::Slabs::Unit unit = slabs.take();
      const std::span<std::byte> bytes(unit.local.data, unit.local.bytes);
      for (std::size_t i = 0; i < bytes.size() && rank.index() == 0; ++i) bytes[i] = value(i, u);
      rank.post(request(rank.index() == 0 ? RequestKind::kSend : RequestKind::kRecv, u,
                        {&unit.local, 1}));
      rank.next();
      std::size_t differ = 0;
      for (std::size_t i = 0; i < bytes.size(); ++i) differ += bytes[i] != value(i, u);
      EXPECT_EQ(differ, 0u);
    }
    rank.meet();
  });
}

TEST(Transport, MemoryIsUnregisteredAndItsNumberUsedAgain) {
  run_ranks(1, [](Rank& rank) {
    std::vector<std::byte> bytes(100'000);
    const hw::LocalMemory first = rank.transport().register_memory(bytes);
    rank.transport().unregister_memory(first);
    EXPECT_EQ(rank.transport().register_memory(bytes).handle, first.handle);
    // More than a device has regions.
    for (int i = 0; i < 10'000; ++i) {
      rank.transport().unregister_memory(rank.transport().register_memory({bytes.data(), 8}));
    }
    const Rank::Channel self[] = {{0, 0, 0}};
    rank.connect(self);
    const Segment gone{bytes.data(), 8, 77};
    const WorkRequest made = request(RequestKind::kSend, 0, {&gone, 1});
    EXPECT_THROW(rank.transport().post({&made, 1}), InternalError);
  });
}

TEST(Transport, ToldFactsAreThoseOfThePort) {
  run_ranks(1, [](Rank& rank) {
    const hw::TransportFacts facts = rank.transport().facts();
    EXPECT_EQ(facts.provider, "verbs");
    EXPECT_THAT(facts.library, ::testing::StartsWith("libibverbs 1"));
    EXPECT_EQ(facts.port, 1u);
    EXPECT_THAT(facts.gid, ::testing::HasSubstr(":"));
    EXPECT_THAT(facts.mtu, ::testing::AnyOf(256u, 512u, 1024u, 2048u, 4096u));
    std::ifstream rate("/sys/class/infiniband/" + facts.device + "/ports/1/rate");
    double gbits = 0;
    ASSERT_TRUE(rate >> gbits) << facts.device;
    EXPECT_EQ(static_cast<double>(facts.link_bits_per_s), gbits * 1e9);
  });
}

}  // namespace
}  // namespace slackline::guest
