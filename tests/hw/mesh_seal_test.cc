// What two ranks say to each other is theirs alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "hw/mesh/seal.h"
#include "hw/mesh/wire.h"

namespace slackline::hw {
namespace {

struct Ends {
  std::unique_ptr<Seal> connected;
  std::unique_ptr<Seal> listens;
};

Ends ends_with(const std::optional<Secret>& one, const std::optional<Secret>& other) {
  const KeyExchange first(one);
  const KeyExchange second(other);
  return {first.agree(second.mine(), true), second.agree(first.mine(), false)};
}

Ends both_ends() {
  const Secret secret = Secret::random();
  return ends_with(secret, secret);
}

Bytes random_bytes(std::mt19937& random, std::size_t count) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

Bytes sealed(Seal& by, std::span<const std::byte> head, std::span<const std::byte> rest = {}) {
  Bytes records;
  by.append(head, rest, records);
  return records;
}

// What was sealed, from bytes that come in pieces of at most `piece`.
Bytes opened(Seal& by, std::span<const std::byte> records, std::size_t piece) {
  RecordReader reader;
  Bytes all;
  while (!records.empty()) {
    const std::size_t count = std::min(piece, records.size());
    reader.feed(by, records.first(count), [&](std::span<const std::byte> plain) {
      all.insert(all.end(), plain.begin(), plain.end());
    });
    records = records.subspan(count);
  }
  return all;
}

TEST(MeshSeal, WhatIsSealedComesOutAtTheOtherEnd) {
  std::mt19937 random(1);
  const Ends ends = both_ends();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{4096}, kRecordBytes - 1,
        kRecordBytes, kRecordBytes + 1, 3 * kRecordBytes + 7}) {
    const Bytes head = random_bytes(random, size / 3);
    const Bytes rest = random_bytes(random, size - size / 3);
    Bytes whole = head;
    whole.insert(whole.end(), rest.begin(), rest.end());
    const Bytes there = sealed(*ends.connected, head, rest);
    EXPECT_EQ(opened(*ends.listens, there, 1 + random() % 5000), whole) << size;
    const Bytes back = sealed(*ends.listens, whole);
    EXPECT_EQ(opened(*ends.connected, back, back.size()), whole) << size;
    const std::size_t records = std::max<std::size_t>(1, (size + kRecordBytes - 1) / kRecordBytes);
    EXPECT_EQ(there.size(), size + records * kProofBytes) << size;
  }
}

TEST(MeshSeal, ByteByByte) {
  const Ends ends = both_ends();
  Bytes records = sealed(*ends.connected, Bytes(5, std::byte{1}));
  for (const std::byte byte : sealed(*ends.connected, {})) records.push_back(byte);
  for (const std::byte byte : sealed(*ends.connected, Bytes(3, std::byte{2}))) {
    records.push_back(byte);
  }
  Bytes expected(5, std::byte{1});
  expected.resize(8, std::byte{2});
  EXPECT_EQ(opened(*ends.listens, records, 1), expected);
}

TEST(MeshSeal, NobodyReadsIt) {
  const Ends ends = both_ends();
  const Bytes text(64, std::byte{'a'});
  const Bytes one = sealed(*ends.connected, text);
  const Bytes two = sealed(*ends.connected, text);
  EXPECT_EQ(std::search(one.begin(), one.end(), text.begin(), text.begin() + 4), one.end());
  EXPECT_NE(one, two);
}

TEST(MeshSeal, AChangedBitIsNoticed) {
  const Secret secret = Secret::random();
  const Bytes text(24, std::byte{'a'});
  for (std::size_t bit = 0; bit < 8 * (text.size() + kProofBytes); ++bit) {
    const Ends ends = ends_with(secret, secret);
    Bytes records = sealed(*ends.connected, text);
    // A length that is longer now waits for the bytes it lacks: they come with what is said next.
    for (const std::byte byte : sealed(*ends.connected, Bytes(kRecordBytes))) {
      records.push_back(byte);
    }
    records[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_THROW(opened(*ends.listens, records, records.size()), WireError) << bit;
  }
}

TEST(MeshSeal, RecordsAreLeftOutRepeatedOrMovedByNobody) {
  for (const auto& order : std::vector<std::vector<int>>{{1}, {0, 0}, {0, 2}, {1, 0, 2}}) {
    const Ends ends = both_ends();
    std::vector<Bytes> records;
    for (int i = 0; i < 3; ++i) records.push_back(sealed(*ends.connected, Bytes(8)));
    EXPECT_THROW(
        {
          for (const int i : order) opened(*ends.listens, records[i], 100);
        },
        WireError);
  }
}

TEST(MeshSeal, OnesOwnWordsAreNotTakenForTheOthers) {
  const Ends ends = both_ends();
  const Bytes own = sealed(*ends.connected, Bytes(8));
  EXPECT_THROW(opened(*ends.connected, own, own.size()), WireError);
}

TEST(MeshSeal, AnotherSecretOpensNothing) {
  const Secret secret = Secret::random();
  for (const auto& other : {std::optional(Secret::random()), std::optional<Secret>()}) {
    const Ends ends = ends_with(secret, other);
    EXPECT_THROW(opened(*ends.listens, sealed(*ends.connected, {}), kProofBytes), WireError);
    EXPECT_THROW(opened(*ends.connected, sealed(*ends.listens, {}), kProofBytes), WireError);
  }
}

TEST(MeshSeal, EachConnectionHasKeysOfItsOwn) {
  const Secret secret = Secret::random();
  const Ends one = ends_with(secret, secret);
  const Ends other = ends_with(secret, secret);
  EXPECT_THROW(opened(*other.listens, sealed(*one.connected, {}), kProofBytes), WireError);
}

// Points with which every key pair has the same in common.
TEST(MeshSeal, AGreetingThatIsNoKeyIsRefused) {
  const KeyExchange greeting(Secret::random());
  std::array<std::byte, kKeyHalfBytes> its{};
  EXPECT_EQ(greeting.agree(its, false), nullptr);
  its[0] = std::byte{1};
  EXPECT_EQ(greeting.agree(its, true), nullptr);
}

TEST(MeshSeal, ALengthThatNoRecordHasIsRefusedBeforeItsBytesCome) {
  const Ends ends = both_ends();
  const Bytes longest = WireWriter().u32(kRecordBytes).take();
  const Bytes longer = WireWriter().u32(kRecordBytes + 1).take();
  RecordReader reader;
  reader.feed(*ends.listens, longest, [](std::span<const std::byte>) { FAIL(); });
  RecordReader another;
  EXPECT_THROW(another.feed(*ends.listens, longer, [](std::span<const std::byte>) {}), WireError);
}

TEST(MeshSeal, GarbageOpensNothing) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const Ends ends = both_ends();
    Bytes garbage = random_bytes(random, kProofBytes + random() % 200);
    const Bytes length = WireWriter().u32(random() % 64).take();
    std::copy(length.begin(), length.end(), garbage.begin());
    garbage.resize(garbage.size() + 64);
    EXPECT_THROW(opened(*ends.listens, garbage, 1 + random() % 100), WireError);
  }
}

}  // namespace
}  // namespace slackline::hw
