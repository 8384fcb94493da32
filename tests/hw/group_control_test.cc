// What members tell each other survives the way; what is none of it is not taken for it.
#include <gtest/gtest.h>

#include "hw/group/control.h"

namespace slackline {
namespace {

using hw::GroupControl;
using hw::GroupWord;

TEST(GroupControl, ComesBackAsItWas) {
  for (const GroupWord word : {GroupWord::kClose, GroupWord::kDone, GroupWord::kSettle,
                               GroupWord::kGone, GroupWord::kStill, GroupWord::kHere,
                               GroupWord::kPing, GroupWord::kPong, GroupWord::kLeft}) {
    GroupControl control;
    control.word = word;
    control.group = 0xfffffffeu;
    control.number = 1ull << 40;
    control.notice.messages = 7;
    control.notice.lost = {false, true, true};
    if (word == GroupWord::kSettle) control.notice.decided = 0;
    const auto back = hw::decode_group_control(hw::encode(control));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->word, control.word);
    EXPECT_EQ(back->group, control.group);
    EXPECT_EQ(back->number, control.number);
    EXPECT_EQ(back->notice.messages, control.notice.messages);
    EXPECT_EQ(back->notice.lost, control.notice.lost);
    EXPECT_EQ(back->notice.decided, control.notice.decided);
  }
}

TEST(GroupControl, OtherBytesAreNone) {
  const hw::Bytes bytes = hw::encode(GroupControl{});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(hw::decode_group_control(std::span(bytes).first(size))) << size;
  }
  hw::Bytes wrong = bytes;
  wrong[0] = std::byte{99};
  EXPECT_FALSE(hw::decode_group_control(wrong));
  // A group of more than 32 bits, and neither yes nor no.
  for (const std::size_t at : {8 + 4, 4 * 8, 6 * 8}) {
    GroupControl control;
    control.notice.lost = {false};
    wrong = hw::encode(control);
    EXPECT_TRUE(hw::decode_group_control(wrong));
    wrong[at] = std::byte{2};
    EXPECT_FALSE(hw::decode_group_control(wrong)) << at;
  }
}

}  // namespace
}  // namespace slackline
