// What tables and labels call the block of a message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/export/messages.h"
#include "sched/text.h"

namespace slackline::sched {
namespace {

using ::testing::ElementsAre;

std::vector<DataMessage> messages_of(const std::string& programs) {
  return data_messages(
      read_text("slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 64\nbuffer 1 rank 1 bytes "
                "64\nbuffer 2 rank 1 bytes 64\n"
                "channel 0 from 0 to 1 credit_on 1\nchannel 1 from 1 to 0\n" +
                programs));
}

std::vector<std::uint64_t> blocks_of(const std::string& programs) {
  std::vector<std::uint64_t> blocks;
  for (const DataMessage& message : messages_of(programs)) blocks.push_back(message.block);
  return blocks;
}

TEST(DataMessages, ABlockIsCountedInLargestMessages) {
  EXPECT_THAT(blocks_of("rank 0\n"
                        "0 put on 0 reads 0[0+16] writes 1[0+16]\n"
                        "1 put on 0 reads 0[0+8] writes 1[16+8]\n"
                        "2 put on 0 reads 0[0+16] writes 1[47+16]\n"
                        "3 put on 0 reads 0[0+16] writes 1[48+16]\n"),
              ElementsAre(0, 1, 2, 3));
}

TEST(DataMessages, WithoutBytesAllAreTheFirstBlock) {
  EXPECT_THAT(blocks_of("rank 0\n0 put on 0 reads 0[5+0] writes 1[5+0]\n1 put on 0\n"),
              ElementsAre(0, 0));
}

TEST(DataMessages, NameWhoSendsWhatTo) {
  const auto messages = messages_of(
      "rank 0\n0 recv on 1\n1 send on 0 reads 0[0+8] 0[16+8] after done:0\n2 get on 0 reads 1[0+8] "
      "writes 0[0+8]\n"
      "rank 1\n3 recv on 0 writes 1[32+16]\n4 send on 1\n");
  ASSERT_EQ(messages.size(), 1u);  // neither the credit nor the get
  EXPECT_EQ(messages[0].op, OpId(1));
  EXPECT_EQ(messages[0].src, RankId(0));
  EXPECT_EQ(messages[0].dst, RankId(1));
  EXPECT_EQ(messages[0].bytes, 16u);
  EXPECT_EQ(messages[0].offset, 32u);
  EXPECT_EQ(messages[0].block, 2u);
}

TEST(DataMessages, ACopyMovesThePlaceOfItsPieceAlone) {
  const auto offset = [](const std::string& copies) {
    return messages_of("rank 0\n0 send on 0 reads 0[0+8]\nrank 1\n1 recv on 0 writes 2[8+8]\n" +
                       copies)[0]
        .offset;
  };
  EXPECT_EQ(offset(""), 8u);
  EXPECT_EQ(offset("2 copy reads 2[8+8] writes 1[40+8]\n"), 40u);
  EXPECT_EQ(offset("2 copy reads 2[8+8] writes 1[40+8]\n3 copy reads 2[8+8] writes 1[48+8]\n"),
            40u);
  EXPECT_EQ(offset("2 copy reads 2[8+4] writes 1[40+4]\n"), 8u);
  EXPECT_EQ(offset("2 copy reads 1[8+8] writes 1[40+8]\n"), 8u);
  EXPECT_EQ(offset("2 copy reads 2[0+8] writes 1[40+8]\n"), 8u);
  EXPECT_EQ(offset("2 copy reads 2[8+8] 2[16+8] writes 1[40+16]\n"), 8u);
  EXPECT_EQ(offset("2 copy reads 2[8+8] writes 1[40+4] 1[48+4]\n"), 8u);
}

TEST(DataMessages, EachIsWhereTheNextCopyPutsIt) {
  const auto messages = messages_of(
      "rank 0\n0 send on 0 reads 0[0+8]\n1 put on 0 imm reads 0[8+8] writes 2[8+8]\n"
      "2 send on 0 reads 0[8+8]\n3 send on 0 reads 0[8+8]\n4 send on 0 reads 0[8+8]\n"
      "rank 1\n5 recv on 0 writes 2[8+8]\n6 copy reads 2[8+8] writes 1[40+8]\n"
      "7 recv on 0\n8 copy reads 2[8+8] writes 1[48+8]\n"
      "9 recv on 0 writes 2[8+8]\n"
      "10 recv on 0 writes 2[8+8]\n11 copy reads 2[8+8] writes 1[56+8]\n"
      "12 recv on 0 writes 2[8+8]\n");
  std::vector<std::uint64_t> offsets;
  for (const DataMessage& message : messages) offsets.push_back(message.offset);
  EXPECT_THAT(offsets, ElementsAre(40, 48, 8, 56, 8));
}

TEST(DataMessages, AMessageThatNobodyReceivesStandsAtZero) {
  const auto messages = messages_of("rank 0\n0 send on 0 reads 0[8+8]\n");
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].offset, 0u);
}

}  // namespace
}  // namespace slackline::sched
