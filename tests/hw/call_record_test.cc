// A record is run only when all of it is there: every way in which a part may be missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "hw/call/receiver.h"
#include "hw/call/record.h"

namespace slackline {
namespace {

using hw::RecordDraft;
using hw::RecordHead;
using hw::RecordKind;
using hw::RecordStamps;

using Words = std::vector<std::uint64_t>;

std::byte* bytes_of(Words& words) { return reinterpret_cast<std::byte*>(words.data()); }
std::size_t size_of(const Words& words) { return 8 * words.size(); }

std::vector<std::byte> random_bytes(std::mt19937_64& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

struct Sample {
  std::vector<std::byte> closure;
  std::vector<std::byte> buffer;
  RecordDraft draft;
  Sample(std::mt19937_64& random, std::size_t closure_bytes, std::size_t buffer_bytes)
      : closure(random_bytes(random, closure_bytes)), buffer(random_bytes(random, buffer_bytes)) {
    draft.function = static_cast<std::uint32_t>(random());
    draft.token = static_cast<std::uint32_t>(random());
    draft.closure = closure;
    draft.buffer = buffer;
  }
  Words record(std::uint64_t stamp) const {
    Words words(hw::record_bytes(draft) / 8, 0x1234567812345678u);
    hw::lay_out(draft, bytes_of(words));
    hw::seal(bytes_of(words), stamp);
    return words;
  }
};

bool is_whole(Words& chunk, std::uint64_t stamp) {
  RecordHead head;
  return hw::is_whole(bytes_of(chunk), size_of(chunk), stamp, head);
}

TEST(CallRecord, GivesBackWhatItWasMadeOf) {
  std::mt19937_64 random(1);
  for (std::size_t closure = 0; closure < 20; ++closure) {
    for (std::size_t buffer = 0; buffer < 20; ++buffer) {
      const Sample sample(random, closure, buffer);
      Words chunk = sample.record(99);
      RecordHead head;
      ASSERT_TRUE(hw::is_whole(bytes_of(chunk), size_of(chunk), 99, head));
      EXPECT_EQ(head.function, sample.draft.function);
      EXPECT_EQ(head.token, sample.draft.token);
      EXPECT_EQ(head.bytes, size_of(chunk));
      EXPECT_EQ(std::memcmp(hw::closure_of(bytes_of(chunk)), sample.closure.data(), closure), 0);
      const auto got = hw::buffer_of(head, bytes_of(chunk));
      EXPECT_TRUE(std::ranges::equal(got, sample.buffer));
    }
  }
}

// Whatever stood there before: zeros, other bytes, or the record that the chunk held a round ago.
TEST(CallRecord, IsNotThereWhileAnythingIsMissing) {
  std::mt19937_64 random(2);
  int tried = 0;
  for (int round = 0; round < 300; ++round) {
    const Sample sample(random, random() % 50, random() % 300);
    const RecordStamps stamps(0, 1, 2);
    const std::uint64_t stamp = stamps.current();
    const Words record = sample.record(stamp);
    Words before(record.size(), 0);
    if (round % 3 == 1) {
      for (std::uint64_t& word : before) word = random();
    }
    if (round % 3 == 2) before = sample.record(stamp - 1);  // the same call, one round ago
    // Its first bytes are there, up to any byte.
    for (std::size_t there = 0; there < size_of(record); ++there) {
      Words chunk = before;
      std::memcpy(bytes_of(chunk), record.data(), there);
      if (chunk == record) continue;  // what was missing stood there
      ++tried;
      ASSERT_FALSE(is_whole(chunk, stamp)) << there << " of " << size_of(record) << " bytes";
    }
    // Any single word is missing, or any set of words.
    for (std::size_t w = 0; w < record.size(); ++w) {
      Words chunk = record;
      chunk[w] = before[w];
      if (chunk == record) continue;
      ASSERT_FALSE(is_whole(chunk, stamp)) << "word " << w;
      for (std::uint64_t& word : chunk) {
        if (random() % 2 == 0) word = before[static_cast<std::size_t>(&word - chunk.data())];
      }
      if (chunk == record) continue;
      ASSERT_FALSE(is_whole(chunk, stamp));
    }
    Words whole = record;
    ASSERT_TRUE(is_whole(whole, stamp));
    ASSERT_FALSE(is_whole(whole, stamp + 1));
  }
  EXPECT_GT(tried, 10'000);
}

TEST(CallRecord, LengthsBeyondTheChunkAreNotFollowed) {
  std::mt19937_64 random(3);
  const Sample sample(random, 16, 100);
  const Words record = sample.record(7);
  for (std::uint32_t bytes : {0u, 8u, 24u, 31u, 33u, 0xfffffff8u, 0xffffffffu}) {
    Words chunk = record;
    std::memcpy(bytes_of(chunk) + offsetof(RecordHead, bytes), &bytes, sizeof bytes);
    EXPECT_FALSE(is_whole(chunk, 7)) << bytes;
  }
  // Only a part of the chunk is left.
  Words chunk = record;
  RecordHead head;
  for (std::size_t room = 0; room < size_of(record); room += 8) {
    EXPECT_FALSE(hw::is_whole(bytes_of(chunk), room, 7, head));
  }
}

// A source's memory writes, played by hand.
class CallReceiver : public ::testing::Test {
 protected:
  CallReceiver()
      : receiver(
            RecordStamps(5, 0, 1),
            [this](std::uint32_t id) {
              return id < granted ? std::span(bytes_of(chunks[id]), size_of(chunks[id]))
                                  : std::span<std::byte>();
            },
            [this](std::uint64_t count) { consumed = count; }) {}

  Words next_record(RecordKind kind, std::uint32_t function) {
    RecordDraft draft;
    draft.kind = kind;
    draft.function = function;
    draft.buffer = std::as_bytes(std::span(payload));
    if (kind == RecordKind::kEnd) draft.buffer = {};
    Words words(hw::record_bytes(draft) / 8);
    hw::lay_out(draft, bytes_of(words));
    hw::seal(bytes_of(words), stamps.current());
    stamps.advance();
    return words;
  }

  std::array<Words, 2> chunks{Words(32), Words(32)};
  std::uint32_t granted = 1;
  std::uint64_t consumed = 0;
  std::array<std::uint64_t, 2> payload{1, 2};
  RecordStamps stamps{5, 0, 1};
  hw::CallReceiver receiver;
};

TEST_F(CallReceiver, RunsNothingOfHalfARecordAndTheWholeOnce) {
  const Words record = next_record(RecordKind::kCall, 77);
  EXPECT_EQ(receiver.next(), nullptr);
  std::copy_n(record.begin(), record.size() / 2, chunks[0].begin());
  EXPECT_EQ(receiver.next(), nullptr);
  std::ranges::copy(record, chunks[0].begin());
  ASSERT_NE(receiver.next(), nullptr);
  EXPECT_EQ(receiver.head().function, 77u);
  ASSERT_NE(receiver.next(), nullptr) << "it stays until pop()";
  receiver.pop();
  EXPECT_EQ(receiver.next(), nullptr);
}

TEST_F(CallReceiver, FollowsChunksAndTellsWhichAreUsedUp) {
  std::uint32_t function = 0;
  const auto put = [&](Words& chunk, std::size_t& at, const Words& record) {
    std::ranges::copy(record, chunk.begin() + static_cast<std::ptrdiff_t>(at));
    at += record.size();
  };
  granted = 2;
  // The chunks are used in turn, over what stood there before, which is never run again.
  for (std::uint32_t round = 0; round < 10; ++round) {
    std::size_t at = 0;
    for (int i = 0; i < 3; ++i) {
      put(chunks[round % 2], at, next_record(RecordKind::kCall, function++));
      ASSERT_NE(receiver.next(), nullptr);
      EXPECT_EQ(receiver.head().function, function - 1);
      receiver.pop();
      ASSERT_EQ(receiver.next(), nullptr);
    }
    EXPECT_EQ(consumed, round);
    put(chunks[round % 2], at, next_record(RecordKind::kEnd, 1 - round % 2));
    ASSERT_EQ(receiver.next(), nullptr);
    EXPECT_EQ(consumed, round + 1);
  }
}

}  // namespace
}  // namespace slackline
