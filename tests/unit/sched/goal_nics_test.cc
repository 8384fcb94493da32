// GOAL programs for hosts of several NICs: each message is on a channel whose number says its NIC,
// and is written with that NIC again.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "sched/channel_numbers.h"
#include "sched/compile.h"
#include "sched/export/goal.h"
#include "sched/export/goal_binary.h"
#include "sched/import/goal.h"
#include "sched/import/goal_parse.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

GoalOptions with_nics(std::uint32_t nics) {
  GoalOptions options;
  options.nics = nics;
  return options;
}

// Source, target, bytes and NIC of each send, as the program says.
using Said = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t>;
std::vector<Said> said_in(const std::string& text) {
  std::vector<Said> out;
  const GoalProgram program = parse_goal(text, "x.goal");
  for (std::uint32_t r = 0; r < program.ranks.size(); ++r) {
    for (const GoalStatement& s : program.ranks[r].statements) {
      if (s.kind == OpKind::kSend) out.emplace_back(r, s.peer, s.amount, s.nic);
    }
  }
  return out;
}

// The same of the schedule, by the numbers of channels.
std::vector<Said> nics_in(const Schedule& schedule, std::uint32_t nics) {
  std::vector<Said> out;
  const std::vector<std::uint32_t> numbers = channel_numbers(schedule);
  for (const Op& op : schedule.ops()) {
    if (op.kind != OpKind::kSend) continue;
    const Channel& channel = schedule.channel(op.channel);
    out.emplace_back(channel.src.value, channel.dst.value, schedule.bytes(op.reads),
                     numbers[op.channel.value] % nics);
  }
  return out;
}

// A program of messages with drawn ends, sizes, tags and NICs.
std::string drawn_program(std::uint64_t seed, std::uint32_t ranks, std::uint32_t nics) {
  std::mt19937_64 random(seed);
  std::vector<std::ostringstream> lines(ranks);
  for (std::uint32_t m = 0; m < 40; ++m) {
    const std::uint64_t from = random() % ranks;
    const std::uint64_t to = (from + 1 + random() % (ranks - 1)) % ranks;
    std::ostringstream rest;
    rest << " tag " << random() % 3 << " nic " << random() % nics << "\n";
    lines[from] << "send " << 100 + m << "b to " << to << rest.str();
    lines[to] << "recv " << 100 + m << "b from " << from << rest.str();
  }
  std::ostringstream out;
  out << "num_ranks " << ranks << "\n";
  for (std::uint32_t r = 0; r < ranks; ++r)
    out << "rank " << r << " {\n" << lines[r].str() << "}\n";
  return out.str();
}

TEST(GoalNics, EveryMessageIsOnAChannelOfItsNic) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto nics = static_cast<std::uint32_t>(1 + seed % 5);
    const std::string text = drawn_program(seed, static_cast<std::uint32_t>(2 + seed % 3), nics);
    const Schedule schedule = read_goal(text, "x.goal", with_nics(nics));
    EXPECT_EQ(nics_in(schedule, nics), said_in(text)) << text;
  }
}

TEST(GoalNics, WhatIsWrittenNamesTheSameNics) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const auto nics = static_cast<std::uint32_t>(1 + seed % 5);
    const std::string text = drawn_program(seed, static_cast<std::uint32_t>(2 + seed % 3), nics);
    const Schedule schedule = read_goal(text, "x.goal", with_nics(nics));
    const std::string again = write_goal_on_nics(schedule, nics);
    EXPECT_EQ(said_in(again), said_in(text));
    const Schedule back = read_goal(again, "x.goal", with_nics(nics));
    EXPECT_EQ(write_goal_on_nics(back, nics), again);
    const Schedule bytes =
        read_goal_binary(write_goal_binary_on_nics(schedule, nics), "x.goal", with_nics(nics));
    EXPECT_EQ(bytes.digest(), back.digest());
  }
}

TEST(GoalNics, PartsOfAMessageTakeThemInTurn) {
  const Schedule schedule = compile(parse_spec("chain:ranks=2,bytes=64KiB,block=64KiB,stripes=4"));
  const std::vector<Said> said = said_in(write_goal_on_nics(schedule, 4));
  for (std::uint32_t nic = 0; nic < 4; ++nic) {
    EXPECT_EQ(std::count(said.begin(), said.end(), Said(0, 1, 16384, nic)), 1) << nic;
    // One credit is for all of them, and goes the way of the first.
    EXPECT_EQ(std::count(said.begin(), said.end(), Said(1, 0, 0, nic)), nic == 0 ? 1 : 0) << nic;
  }
  EXPECT_EQ(write_goal_on_nics(schedule, 1), write_goal(schedule));
  EXPECT_EQ(write_goal_binary_on_nics(schedule, 1), write_goal_binary(schedule));
}

TEST(GoalNics, ANicThatHasLessToDoLeavesChannelsOut) {
  const Schedule schedule = read_goal(
      "num_ranks 2\nrank 0 {\nsend 1b to 1 tag 0 nic 2\nsend 2b to 1 tag 1 nic 2\n}\n"
      "rank 1 {\nrecv 1b from 0 tag 0 nic 2\nrecv 2b from 0 tag 1 nic 2\n}\n",
      "x.goal", with_nics(3));
  EXPECT_EQ(schedule.channels().size(), 6u);
  EXPECT_EQ(schedule.ops()[0].channel, ChannelId(2));
  EXPECT_EQ(schedule.ops()[1].channel, ChannelId(5));
}

std::string refused(const std::string& text, std::uint32_t nics) {
  return testing::error_of<Error>([&] { read_goal(text, "x.goal", with_nics(nics)); });
}

TEST(GoalNics, WhatAPlatformHasNotIsRefused) {
  const std::string text =
      "num_ranks 2\nrank 0 {\na: send 1b to 1 nic 3\n}\nrank 1 {\nb: recv 1b from 0 nic 3\n}\n";
  EXPECT_EQ(refused(text, 4), "");
  EXPECT_EQ(refused(text, 3), "x.goal:3: 'a' is on NIC 3; expected 0 to 2, since --nics says 3");
  EXPECT_EQ(
      refused("num_ranks 2\nrank 0 {\na: send 1b to 1 nic 3\n}\nrank 1 {\nb: recv 1b from 0 nic "
              "1\n}\n",
              4),
      "x.goal:3: 'a' of rank 0 leaves on NIC 3, but 'b' of rank 1 (line 6) has it on NIC 1; "
      "expected one NIC at both ends, as rail=channel has it, or --one-nic");
}

}  // namespace
}  // namespace slackline::sched
