// What ranks say to each other, as bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "hw/mesh/wire.h"

namespace slackline::hw {
namespace {

Hello a_hello() {
  Hello hello;
  hello.version = "1.2.3";
  hello.rank = 3;
  hello.ranks = 8;
  hello.run = 0x123456789abcdef0;
  hello.member = {"boot/1/2", 4711, "fe80::1", 65'535};
  hello.agreed = {"schedule: 1f3c", "", "block: 1 MiB"};
  return hello;
}

std::span<const std::byte> after_preamble(const Bytes& bytes) {
  return std::span(bytes).subspan(kPreambleBytes);
}

std::optional<Preamble> preamble_of(const Bytes& bytes) {
  return decode_preamble(std::span(bytes).first<kPreambleBytes>());
}

TEST(MeshWire, HelloComesBack) {
  const Hello hello = a_hello();
  const Bytes bytes = encode(hello);
  const auto preamble = preamble_of(bytes);
  ASSERT_TRUE(preamble);
  EXPECT_EQ(preamble->protocol, kMeshProtocol);
  ASSERT_EQ(preamble->bytes, bytes.size() - kPreambleBytes);
  const Hello back = decode_hello(preamble->protocol, after_preamble(bytes));
  EXPECT_EQ(back.version, hello.version);
  EXPECT_EQ(back.rank, hello.rank);
  EXPECT_EQ(back.ranks, hello.ranks);
  EXPECT_EQ(back.run, hello.run);
  EXPECT_EQ(back.member.host, hello.member.host);
  EXPECT_EQ(back.member.pid, hello.member.pid);
  EXPECT_EQ(back.member.address, hello.member.address);
  EXPECT_EQ(back.member.port, hello.member.port);
  EXPECT_EQ(back.agreed, hello.agreed);
}

TEST(MeshWire, HelloOfAnotherProtocolTellsVersionAndRank) {
  Hello hello = a_hello();
  hello.protocol = kMeshProtocol + 1;
  Bytes bytes = encode(hello);
  bytes.resize(kPreambleBytes + 4 + hello.version.size() + 4);  // whatever else it may have
  const Hello back = decode_hello(hello.protocol, after_preamble(bytes));
  EXPECT_EQ(back.version, "1.2.3");
  EXPECT_EQ(back.rank, 3);
}

TEST(MeshWire, ShortenedBytesAreNoHello) {
  const Bytes bytes = encode(a_hello());
  for (std::size_t size = 0; size < bytes.size() - kPreambleBytes; ++size) {
    EXPECT_THROW(decode_hello(kMeshProtocol, after_preamble(bytes).first(size)), WireError);
  }
}

TEST(MeshWire, StrangersAreNoRanks) {
  const auto first_bytes = [](std::string text) {
    text.resize(kPreambleBytes, ' ');
    const auto bytes = std::as_bytes(std::span(text));
    return Bytes(bytes.begin(), bytes.end());
  };
  EXPECT_FALSE(preamble_of(first_bytes("GET / HTTP/1.1\r\n")));
  EXPECT_FALSE(preamble_of(first_bytes("SSH-2.0-OpenSSH_9")));
  Bytes changed = encode(a_hello());
  for (std::size_t i = 0; i < 8; ++i) {
    Bytes one = changed;
    one[i] ^= std::byte{1};
    EXPECT_FALSE(preamble_of(one));
  }
  changed[14] = std::byte{0xff};  // a length of 16 MiB
  EXPECT_FALSE(preamble_of(changed));
}

TEST(MeshWire, TooMuchToAgreeOn) {
  Hello hello = a_hello();
  hello.agreed.push_back(std::string(2 << 20, 'x'));
  EXPECT_THROW(encode(hello), InputError);
}

TEST(MeshWire, DisagreementNamesBothAndWhatTheyHave) {
  const Hello one = a_hello();
  Hello other = one;
  other.rank = 5;
  EXPECT_FALSE(disagreement(one, other));
  other.agreed[2] = "block: 2 MiB";
  EXPECT_EQ(disagreement(one, other)->exit_code, 2);
  EXPECT_EQ(disagreement(one, other)->message,
            "ranks disagree: rank 3 has block: 1 MiB, rank 5 has block: 2 MiB; expected the same "
            "at all ranks");
  other.agreed.pop_back();
  EXPECT_EQ(disagreement(one, other)->message,
            "ranks disagree: rank 3 has block: 1 MiB, rank 5 has nothing more; expected the same "
            "at all ranks");
  other.ranks = 9;
  EXPECT_EQ(disagreement(one, other)->exit_code, 2);
  EXPECT_EQ(disagreement(one, other)->message,
            "rank 3 was started as one of 8 ranks, rank 5 as one of 9; expected the same number at "
            "all ranks");
  other.version = "1.2.4";
  EXPECT_EQ(disagreement(one, other)->exit_code, 3);
  other.version = one.version;
  other.protocol++;
  EXPECT_EQ(disagreement(one, other)->exit_code, 3);
}

// Long and short frames, as a peer interleaves them.
Bytes stream(std::mt19937& random, std::vector<Frame>& frames) {
  Bytes bytes;
  const auto append = [&bytes](std::span<const std::byte> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  const auto payload = [&random](std::size_t size) {
    Bytes made(size);
    for (std::byte& byte : made) byte = static_cast<std::byte>(random());
    return made;
  };
  for (int i = 0; i < 4; ++i) {
    Frame message{random() % 2 ? FrameKind::kMessage : FrameKind::kGather,
                  static_cast<std::uint32_t>(random()), payload(random() % (3 * kPartBytes))};
    for (std::size_t at = 0; at == 0 || at < message.payload.size(); at += kPartBytes) {
      const std::size_t left = message.payload.size() - at;
      append(encode(FrameHeader{message.kind, message.topic, left}));
      append(std::span(message.payload).subspan(at, std::min(left, kPartBytes)));
      if (random() % 2 == 0) continue;
      Frame control{FrameKind::kLost, 0, payload(random() % 50)};
      append(encode_frame(control.kind, control.payload));
      // One that comes before the last part is there before the message.
      if (left > kPartBytes) {
        frames.push_back(std::move(control));
      } else {
        frames.push_back(std::move(message));
        frames.push_back(std::move(control));
        message = {};
        break;
      }
    }
    if (message.kind != FrameKind::kHeartbeat) frames.push_back(std::move(message));
  }
  return bytes;
}

template <class Decode>
bool refuses(Bytes bytes, const Decode& decode) {
  try {
    decode(bytes);
  } catch (const WireError&) {
    return true;
  }
  return false;
}

// Nor has anything more bytes than it says, or names a rank that there is not.
TEST(MeshWire, MoreBytesAreRefused) {
  const auto only_whole = [](Bytes bytes, const auto& decode) {
    EXPECT_FALSE(refuses(bytes, decode));
    bytes.push_back(std::byte{0});
    EXPECT_TRUE(refuses(bytes, decode));
  };
  const auto of_five = [](const Bytes& bytes) { return decode_verdict(bytes, 5); };
  only_whole(encode(JoinVerdict{1, 4, "why"}), of_five);
  only_whole(encode(Loss{1, "how", 2}), decode_loss);
  only_whole(encode(std::vector<Member>(3)), decode_members);
  const Bytes hello = encode(a_hello());
  const std::span<const std::byte> payload = after_preamble(hello);
  only_whole(Bytes(payload.begin(), payload.end()),
             [](const Bytes& bytes) { return decode_hello(kMeshProtocol, bytes); });
  EXPECT_TRUE(refuses(encode(JoinVerdict{1, 5, "why"}), of_five));
}

// What peers say is one line, and commands no terminal.
TEST(MeshWire, TextOfPeersIsShown) {
  EXPECT_EQ(decode_loss(encode(Loss{1, "a\x1b[2J\nb", 2})).how, "a\\x1b[2J\\x0ab");
  try {
    throw_verdict({3, 0, "a\nb"});
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "a\\x0ab");
  }
}

TEST(MeshWire, FramesAreTheSameHoweverTheyCome) {
  std::mt19937 random(1);
  for (int round = 0; round < 8; ++round) {
    std::vector<Frame> expected;
    const Bytes bytes = stream(random, expected);
    FrameReader reader;
    std::vector<Frame> got;
    const std::size_t largest = round % 2 == 0 ? 40 : 600'000;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t count = std::min<std::size_t>(1 + random() % largest, bytes.size() - at);
      reader.feed(std::span(bytes).subspan(at, count), got);
      at += count;
    }
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].kind, expected[i].kind);
      EXPECT_EQ(got[i].topic, expected[i].topic);
      EXPECT_EQ(got[i].payload, expected[i].payload);
    }
  }
}

TEST(MeshWire, GarbageIsRefused) {
  std::mt19937 random(2);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    FrameReader reader;
    std::vector<Frame> frames;
    Bytes bytes(64);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    // Half of them with a kind that there is.
    if (round % 2 == 0) {
      std::fill_n(bytes.begin(), 4, std::byte{0});
      bytes[0] = static_cast<std::byte>(FrameKind::kMessage);
    }
    try {
      reader.feed(bytes, frames);
    } catch (const WireError&) {
      ++refused;
    }
    EXPECT_TRUE(frames.empty());
  }
  EXPECT_EQ(refused, 2000);
}

// A part that is not the rest of the message before it: of another kind or topic, or with more or
// less left.
TEST(MeshWire, PartsThatDoNotFollowAreRefused) {
  const FrameHeader first{FrameKind::kMessage, 7, 2 * kPartBytes + 5};
  const auto fed = [&](const FrameHeader& second) {
    FrameReader reader;
    std::vector<Frame> frames;
    reader.feed(encode(first), frames);
    reader.feed(Bytes(kPartBytes), frames);
    reader.feed(encode(second), frames);
    reader.feed(Bytes(kPartBytes), frames);
    reader.feed(encode(FrameHeader{first.kind, first.topic, 5}), frames);
    reader.feed(Bytes(5), frames);
    return frames;
  };
  const FrameHeader next{first.kind, first.topic, kPartBytes + 5};
  ASSERT_EQ(fed(next).size(), 1u);
  EXPECT_EQ(fed(next)[0].payload.size(), first.left);
  for (const std::uint32_t topic : {0u, 6u, 8u, 0xffffffffu}) {
    EXPECT_THROW(fed({next.kind, topic, next.left}), WireError) << topic;
  }
  EXPECT_THROW(fed({FrameKind::kGather, next.topic, next.left}), WireError);
  for (const std::uint64_t left :
       {std::uint64_t{0}, next.left - 1, next.left + 1, std::uint64_t{first.left}}) {
    EXPECT_THROW(fed({next.kind, next.topic, left}), WireError) << left;
  }
}

// Any one bit of the header that continues a message, turned over.
TEST(MeshWire, TurnedBitsOfHeadersOfPartsAreRefused) {
  const FrameHeader first{FrameKind::kMessage, 7, 2 * kPartBytes + 5};
  for (std::size_t bit = 0; bit < 8 * kHeaderBytes; ++bit) {
    auto second = encode(FrameHeader{first.kind, first.topic, kPartBytes + 5});
    second[bit / 8] ^= std::byte{1} << bit % 8;
    FrameReader reader;
    std::vector<Frame> frames;
    reader.feed(encode(first), frames);
    reader.feed(Bytes(kPartBytes), frames);
    EXPECT_THROW(reader.feed(second, frames), WireError) << bit;
    EXPECT_TRUE(frames.empty()) << bit;
  }
}

}  // namespace
}  // namespace slackline::hw
