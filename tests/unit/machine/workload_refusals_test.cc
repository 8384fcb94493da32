// What a workload's file must have, by the whole error and its line; and the order of its messages.
#include <gtest/gtest.h>

#include <string>

#include "machine/workload.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

std::string error_of(const std::string& text) {
  return testing::error_of([&] { workload_from_toml("ranks = 4\n" + text, "w"); });
}

// A group with each of its needs but the one that begins with `without`, and `more`.
std::string group_but(const std::string& without, const std::string& more = "") {
  std::string text = "[[group]]\n";
  for (const std::string line : {"ranks = [2, 1]\n", "schedule = \"chain\"\n", "bytes = \"8\"\n"}) {
    if (without.empty() || !line.starts_with(without)) text += line;
  }
  return error_of(text + more);
}

std::string generator_but(const std::string& without, const std::string& more = "") {
  std::string text = "[[groups]]\n";
  for (const std::string line : {"from = \"1-3\"\n", "choose = 2\n", "root = 0\n",
                                 "schedule = \"chain\"\n", "bytes = \"8\"\n", "writes = 5\n"}) {
    if (without.empty() || !line.starts_with(without)) text += line;
  }
  return error_of(text + more);
}

TEST(WorkloadRefusals, AGroupHasItsNeeds) {
  EXPECT_EQ(group_but(""), "");
  EXPECT_EQ(group_but("ranks"),
            "w:2: group: no ranks stand here; expected a list such as [0, 3, 5] or \"1-15\"");
  EXPECT_EQ(group_but("schedule"),
            "w:2: group: no schedule stands here; expected a spec such as "
            "\"binomial-pipeline:block=1MiB\"");
  EXPECT_EQ(group_but("bytes"),
            "w:2: group: neither bytes nor sizes stand here; expected one of them");
}

TEST(WorkloadRefusals, ASpecHasBytesOnceAndNoRanks) {
  const auto with = [](const std::string& spec) {
    return group_but("schedule", "schedule = \"" + spec + "\"\n");
  };
  EXPECT_EQ(with("chain:bytes=8"),
            "w:5: group.schedule: the spec has bytes, and so has the group; expected them once");
  EXPECT_EQ(with("chain:ranks=2"),
            "w:5: group.schedule: the spec has ranks; expected none, since the group says which");
  EXPECT_EQ(with("chain:bytes=8,bytes=9"), "w:5: group.schedule: bytes: given twice");
  EXPECT_EQ(with("chain:block=4,window=2"), "");
}

TEST(WorkloadRefusals, RanksAreAListOrASpan) {
  const std::string expected = "expected a list such as [0, 3, 5] or \"1-15\"";
  const auto with = [](const std::string& ranks) {
    return group_but("ranks", "ranks = " + ranks + "\n");
  };
  EXPECT_EQ(with("[0, 4]"), "w:5: group.ranks: 4 is no rank; expected 0 to 3");
  EXPECT_EQ(with("[0, -1]"), "w:5: group.ranks: -1 is no rank; expected 0 to 3");
  EXPECT_EQ(with("[0, 3]"), "");
  EXPECT_EQ(with("\"0-3\""), "");
  EXPECT_EQ(with("\"2-2\""), "");
  EXPECT_EQ(with("\"12\""), "w:5: group.ranks: '12'; " + expected);
  EXPECT_EQ(with("12"), "w:5: group.ranks: another type of value; " + expected);
  EXPECT_EQ(with("[0, \"1\"]"), "w:5: group.ranks: an entry is no whole number; " + expected);
  EXPECT_EQ(with("[]"), "w:5: group.ranks: no ranks; " + expected);
  EXPECT_EQ(with("[3, 1, 3]"), "w:5: group.ranks: rank 3 stands twice; expected it once");
  EXPECT_NE(with("\"0-4\""), "");
  EXPECT_NE(with("\"2-1\""), "");
}

TEST(WorkloadRefusals, CountsAreNotZero) {
  EXPECT_EQ(group_but("", "messages = 0\n"), "w:6: group.messages: 0; expected at least 1");
  EXPECT_EQ(generator_but("writes", "writes = 0\n"), "w:8: groups.writes: 0; expected at least 1");
}

TEST(WorkloadRefusals, AGeneratorHasItsNeeds) {
  EXPECT_EQ(generator_but(""), "");
  EXPECT_EQ(generator_but("choose"),
            "w:2: groups: no choose stands here; expected a number from 1 to 3");
  EXPECT_EQ(generator_but("choose", "choose = 0\n"),
            "w:2: groups: no choose stands here; expected a number from 1 to 3");
  EXPECT_EQ(generator_but("choose", "choose = 3\n"), "");
  EXPECT_EQ(generator_but("choose", "choose = 4\n"),
            "w:8: groups.choose: 4 stands here; expected a whole number from 0 to 3");
  EXPECT_EQ(generator_but("root"), "w:2: groups: no root stands here; expected a rank");
  EXPECT_EQ(generator_but("root", "root = 3\n"),
            "w:8: groups.root: rank 3 is among those to choose from; expected another");
  EXPECT_EQ(generator_but("root", "root = 4\n"),
            "w:8: groups.root: 4 stands here; expected a whole number from 0 to 3");
  EXPECT_EQ(generator_but("writes"),
            "w:2: groups: no writes stand here; expected the number of messages");
  EXPECT_EQ(generator_but("schedule"),
            "w:2: groups: no schedule stands here; expected a spec such as "
            "\"binomial-pipeline:block=1MiB\"");
}

TEST(WorkloadRefusals, UnknownKeysAreNamed) {
  EXPECT_EQ(group_but("", "colour = 3\n").substr(0, 35), "w:6: unknown key 'colour' in [group");
  EXPECT_EQ(generator_but("", "colour = 3\n").substr(0, 36),
            "w:9: unknown key 'colour' in [groups");
}

TEST(WorkloadMessages, WhatArrivesAtOnceGoesTurnAbout) {
  const Workload w = workload_from_toml(
      "ranks = 4\n"
      "[[group]]\nranks = [0, 1]\nschedule = \"chain\"\nbytes = \"1\"\nmessages = 3\n"
      "[[group]]\nranks = [2, 3]\nschedule = \"chain\"\nbytes = \"2\"\nmessages = 2\n"
      "[[group]]\nranks = [1, 3]\nschedule = \"chain\"\nbytes = \"3\"\nmessages = 1\nstart = "
      "\"1ns\"\n",
      "w");
  std::string order;
  for (const WorkloadMessage& message : w.messages) order += std::to_string(message.group);
  EXPECT_EQ(order, "010102");
}

}  // namespace
}  // namespace slackline::machine
