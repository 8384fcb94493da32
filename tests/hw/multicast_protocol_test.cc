// Both ends of a multicast channel by themselves: what they say when, and what they take no word
// for.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "hw/bytes.h"
#include "hw/multicast/receiver.h"
#include "hw/multicast/sender.h"
#include "hw/multicast/words.h"

namespace slackline::hw {
namespace {

using Kind = MulticastWord::Kind;
using std::chrono::milliseconds;

constexpr std::size_t kPacket = 10;
constexpr std::size_t kEarly = 3 * kPacket;

MulticastWord word(Kind kind, std::uint64_t message) {
  MulticastWord made;
  made.kind = kind;
  made.message = message;
  return made;
}
MulticastWord sent(std::uint64_t message, std::uint64_t bytes) {
  MulticastWord made = word(Kind::kSent, message);
  made.bytes = bytes;
  made.immediate = static_cast<std::uint32_t>(message);
  return made;
}
MulticastWord missing(std::uint64_t message, std::vector<PacketRun> runs) {
  MulticastWord made = word(Kind::kMissing, message);
  made.missing = std::move(runs);
  return made;
}

// Memory of one request, in two pieces.
struct Memory {
  explicit Memory(std::size_t count, std::byte fill = std::byte{0}) : bytes(count, fill) {
    segments = {Segment{bytes.data(), count / 3, 0},
                Segment{bytes.data() + count / 3, count - count / 3, 0}};
  }
  WorkRequest request(std::uint64_t tag) const {
    WorkRequest made;
    made.tag = tag;
    made.local = segments;
    return made;
  }
  std::vector<std::byte> bytes;
  std::array<Segment, 2> segments;
};

struct End {
  MulticastReceiver receiver{kPacket, milliseconds(5), kEarly};
  MulticastReceiver::Clock::time_point now;

  void datagram(std::uint64_t message, std::uint32_t packet, char fill,
                std::size_t bytes = kPacket) {
    const std::vector<std::byte> payload(bytes, std::byte(fill));
    receiver.take(DatagramHead{0, message, 0, packet}, payload, now);
  }
  void hear(const MulticastWord& said) { receiver.take(said, now); }
  // "have 1", "missing 0: 1+2 4+1", or nothing.
  std::string says() {
    const auto said = receiver.next_word(now);
    if (!said) return "";
    if (said->kind == Kind::kHave) return "have " + std::to_string(said->message);
    std::string text = "missing " + std::to_string(said->message) + ":";
    for (const PacketRun& run : said->missing) {
      text += " " + std::to_string(run.first) + "+" + std::to_string(run.count);
    }
    return text;
  }
  bool is_done() { return receiver.next_completion().has_value(); }
};

TEST(MulticastReceiver, IsDoneOnceItWasSentAndAllPacketsAreThere) {
  const Memory memory(25);
  End end;
  end.receiver.add_receive(memory.request(7));
  end.datagram(0, 2, 'c', 5);
  end.datagram(0, 0, 'a');
  end.datagram(0, 1, 'b');
  EXPECT_FALSE(end.is_done());
  EXPECT_EQ(end.says(), "");
  end.hear(sent(0, 25));
  const auto done = end.receiver.next_completion();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->tag, 7u);
  EXPECT_EQ(done->bytes, 25u);
  EXPECT_EQ(end.says(), "have 1");
  EXPECT_EQ(end.says(), "");
  end.datagram(0, 1, 'x');
  EXPECT_EQ(end.receiver.counts().repeated, 1u);
  std::string text;
  for (const std::byte byte : memory.bytes) text += static_cast<char>(byte);
  EXPECT_EQ(text, "aaaaaaaaaabbbbbbbbbbccccc");
}

TEST(MulticastReceiver, AsksOnceForWhatIsMissingAWhileAfterTheLastSignOfIt) {
  const Memory memory(60);
  End end;
  end.receiver.add_receive(memory.request(7));
  end.datagram(0, 3, 'd');
  end.now += milliseconds(100);
  EXPECT_EQ(end.says(), "");  // nobody has said that it was sent
  end.hear(sent(0, 60));
  EXPECT_EQ(end.says(), "");
  end.now += milliseconds(4);
  end.datagram(0, 0, 'a');
  end.now += milliseconds(4);
  EXPECT_EQ(end.says(), "");
  end.now += milliseconds(1);
  EXPECT_EQ(end.says(), "missing 0: 1+2 4+2");
  end.now += milliseconds(100);
  EXPECT_EQ(end.says(), "");
  const std::vector<std::byte> two(20, std::byte{'r'});
  MulticastWord repair = word(Kind::kRepair, 0);
  repair.packets = {1, 2};
  repair.payload = two;
  end.datagram(0, 1, 'b');  // late, and not lost
  end.hear(repair);
  repair.packets = {4, 2};
  end.hear(repair);
  EXPECT_TRUE(end.is_done());
  EXPECT_EQ(end.says(), "have 1");
  EXPECT_EQ(end.receiver.counts().repaired, 3u);
  EXPECT_EQ(memory.bytes[10], std::byte{'b'});
  EXPECT_EQ(memory.bytes[20], std::byte{'r'});
}

TEST(MulticastReceiver, KeepsWhatComesBeforeItsReceiveWhileThereIsRoom) {
  const Memory first(20);
  const Memory second(40);
  End end;
  end.datagram(1, 0, 'a');
  end.datagram(0, 1, 'b');
  end.datagram(1, 0, 'a');
  end.datagram(1, 1, 'c');
  end.datagram(1, 2, 'd');  // for which there is no room
  EXPECT_EQ(end.receiver.counts().repeated, 1u);
  EXPECT_EQ(end.receiver.counts().early, 1u);
  end.hear(sent(0, 20));
  end.hear(sent(1, 40));
  end.now += milliseconds(100);
  EXPECT_EQ(end.says(), "");  // what is asked for must have a place
  end.receiver.add_receive(first.request(1));
  end.datagram(1, 3, 'e');  // the room that it left
  EXPECT_EQ(end.says(), "missing 0: 0+1");
  EXPECT_EQ(end.says(), "");
  end.receiver.add_receive(second.request(2));
  EXPECT_EQ(end.says(), "missing 1: 2+1");
  end.datagram(0, 0, 'f');
  end.datagram(1, 2, 'd');
  EXPECT_EQ(end.receiver.next_completion()->tag, 1u);
  EXPECT_EQ(end.receiver.next_completion()->tag, 2u);
  EXPECT_EQ(end.says(), "have 2");
}

TEST(MulticastReceiver, PassesOverDatagramsThatCannotBe) {
  const Memory memory(25);
  End end;
  end.datagram(0, 0xffffffff, 'x');              // kept, and of no use
  end.datagram(std::uint64_t{1} << 40, 0, 'x');  // further ahead than is looked for
  EXPECT_EQ(end.receiver.counts().early, 1u);
  end.datagram(0, 1, 'x', 0);
  end.datagram(0, 1, 'x', kPacket + 1);
  end.receiver.add_receive(memory.request(1));
  end.datagram(0, 2, 'x');  // beyond its end
  end.datagram(0, 0xffffffff, 'x');
  end.hear(sent(0, 25));
  end.datagram(0, 1, 'x', 5);  // not its last packet
  end.now += milliseconds(10);
  EXPECT_EQ(end.says(), "missing 0: 0+3");
  EXPECT_FALSE(end.is_done());
}

TEST(MulticastReceiver, TakesNoWordForWhatASenderCannotMean) {
  const Memory memory(25);
  const std::vector<std::byte> payload(kPacket);
  const auto refused = [&](MulticastWord said) {
    End end;
    end.receiver.add_receive(memory.request(1));
    end.hear(sent(0, 25));
    EXPECT_THROW(end.hear(said), BadBytes) << static_cast<int>(said.kind) << said.message;
  };
  refused(sent(0, 25));
  refused(sent(2, 25));
  refused(word(Kind::kHave, 1));
  MulticastWord repair = word(Kind::kRepair, 0);
  repair.payload = payload;
  repair.packets = {3, 1};
  refused(repair);
  repair.packets = {2, 1};  // which has 5 bytes
  refused(repair);
  repair.packets = {0, 0};
  refused(repair);
  repair.packets = {0, 2};
  refused(repair);
  repair.message = 1;
  repair.packets = {0, 1};
  refused(repair);
  End end;
  end.receiver.add_receive(memory.request(1));
  EXPECT_THROW(end.hear(sent(0, 26)), InputError);  // more than the receive
}

TEST(MulticastSender, ASourceSaysThatAMessageWasSentOnceItsPacketsAre) {
  const Memory memory(25);
  std::array<std::byte, 100> room;
  MulticastSender sender(true, kPacket);
  sender.add_send(memory.request(1));
  sender.add_send(memory.request(2));
  for (int packet = 0; packet < 3; ++packet) {
    EXPECT_FALSE(sender.next_word(room));
    sender.sent();
  }
  EXPECT_EQ(sender.next_word(room)->message, 0u);
  EXPECT_FALSE(sender.next_word(room));
  sender.take(word(Kind::kHave, 1));
  EXPECT_EQ(sender.next_completion()->tag, 1u);
  EXPECT_FALSE(sender.next_completion());
  EXPECT_EQ(sender.next_packet()->message, 1u);
  EXPECT_EQ(sender.next_packet()->packet, 0u);
}

TEST(MulticastSender, SaysNothingOfSendsThatNobodyAsksFor) {
  const Memory memory(25);
  std::array<std::byte, 100> room;
  MulticastSender sender(false, kPacket);
  WorkRequest silent = memory.request(1);
  silent.signalled = false;
  sender.add_send(silent);
  sender.add_send(memory.request(2));
  sender.next_word(room);
  sender.next_word(room);
  sender.take(word(Kind::kHave, 2));
  EXPECT_EQ(sender.next_completion()->tag, 2u);
  EXPECT_FALSE(sender.next_completion());
}

TEST(MulticastSender, RepairsAsMuchAsThereIsRoomForAndNothingThatHasCome) {
  const Memory memory(95, std::byte{'m'});
  std::array<std::byte, 30> room;
  MulticastSender sender(false, kPacket);
  sender.add_send(memory.request(1));
  EXPECT_FALSE(sender.next_packet());
  EXPECT_EQ(sender.next_word(room)->kind, Kind::kSent);
  sender.take(missing(0, {{0, 4}, {9, 1}}));
  auto said = sender.next_word(room);
  EXPECT_EQ(said->packets, (PacketRun{0, 3}));
  EXPECT_EQ(said->payload.size(), 30u);
  said = sender.next_word(room);
  EXPECT_EQ(said->packets, (PacketRun{3, 1}));
  said = sender.next_word(room);
  EXPECT_EQ(said->packets, (PacketRun{9, 1}));
  EXPECT_EQ(said->payload.size(), 5u);
  EXPECT_FALSE(sender.next_word(room));
  EXPECT_EQ(sender.repaired_packets(), 5u);
  sender.take(missing(0, {{5, 2}}));
  sender.take(word(Kind::kHave, 1));
  EXPECT_FALSE(sender.next_word(room));
}

TEST(MulticastSender, TakesNoWordForWhatAReceiverCannotMean) {
  const Memory memory(95);
  const auto refused = [&](const MulticastWord& said) {
    std::array<std::byte, 30> room;
    MulticastSender sender(false, kPacket);
    sender.add_send(memory.request(1));
    sender.add_send(memory.request(2));
    sender.add_send(memory.request(3));
    sender.next_word(room);
    sender.next_word(room);
    sender.take(word(Kind::kHave, 1));
    EXPECT_THROW(sender.take(said), BadBytes) << static_cast<int>(said.kind) << said.message;
  };
  refused(word(Kind::kHave, 0));
  refused(word(Kind::kHave, 3));
  refused(sent(3, 1));
  refused(missing(0, {{0, 1}}));
  refused(missing(2, {{0, 1}}));
  refused(missing(1, {{0, 11}}));
  refused(missing(1, {{10, 1}}));
  refused(missing(1, {{3, 0}}));
  refused(missing(1, {{0, 10}, {0, 1}}));
}

TEST(MulticastWords, AreReadAsTheyWereWrittenAndNothingElseIs) {
  std::array<std::byte, 100> bytes;
  const std::size_t length = write_word(missing(5, {{1, 2}, {7, 1}}), bytes);
  ASSERT_EQ(length, kWordHeadBytes + 16);
  const MulticastWord read = read_word(std::span(bytes).first(length));
  EXPECT_EQ(read.message, 5u);
  EXPECT_EQ(read.missing, (std::vector<PacketRun>{{1, 2}, {7, 1}}));
  for (std::size_t cut = 0; cut < length; ++cut) {
    EXPECT_THROW(read_word(std::span(bytes).first(cut)), BadBytes) << cut;
  }
  EXPECT_THROW(read_word(std::span(bytes).first(length + 1)), BadBytes);
  EXPECT_THROW(read_word(std::span(bytes).first(write_word(missing(5, {}), bytes))), BadBytes);
}

}  // namespace
}  // namespace slackline::hw
