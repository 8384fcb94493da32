// The lines of PMI-1: what is written, what is taken, and what is refused in one line.
#include "hw/launch/pmi1_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/error.h"

namespace slackline::hw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& line, const std::string& expected = "get_result",
                    const std::string& key = "value") {
  try {
    Pmi1Answer(line, "get", expected).value(key);
  } catch (const EnvironmentError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return what;
  }
  return "none";
}

TEST(Pmi1Wire, Commands) {
  EXPECT_EQ(pmi1_command("get_maxes"), "cmd=get_maxes\n");
  EXPECT_EQ(pmi1_command("get", {{"kvsname", "kvs_1_0"}, {"key", "k"}}),
            "cmd=get kvsname=kvs_1_0 key=k\n");
}

TEST(Pmi1Wire, AnswersAsLaunchersGiveThem) {
  // Flux, Hydra, Slurm.
  for (const char* line :
       {"cmd=get_result rc=0 value=a=b/c:1", "cmd=get_result rc=0 msg=success value=a=b/c:1",
        "cmd=get_result rc=0 value=a=b/c:1 ", "value=a=b/c:1 cmd=get_result"}) {
    EXPECT_EQ(Pmi1Answer(line, "get", "get_result").value("value"), "a=b/c:1") << line;
  }
  const Pmi1Answer most("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024", "get_maxes",
                        "maxes");
  EXPECT_EQ(most.number("keylen_max"), 64);
  EXPECT_EQ(most.number("vallen_max"), 1024);
}

TEST(Pmi1Wire, WhatIsNoAnswer) {
  EXPECT_THAT(refusal(""), HasSubstr("the launcher's answer to \"get\" is none of PMI-1: it is no "
                                     "get_result; give --rank, --ranks and --root"));
  EXPECT_THAT(refusal("cmd=put_result rc=0 value=x"), HasSubstr("it is no get_result"));
  EXPECT_THAT(refusal("cmd=get_result rc=-1 msg=no_such_key"), HasSubstr("its rc is -1"));
  EXPECT_THAT(refusal("cmd=get_result rc=9x value=x"), HasSubstr("its rc is no number"));
  EXPECT_THAT(refusal("cmd=get_result rc=0"), HasSubstr("it has no value"));
  EXPECT_THAT(refusal("cmd=get_result rc=0 value="), HasSubstr("it has no value"));
  EXPECT_THAT(refusal("cmd=get_result value=x value=y"), HasSubstr("it has value twice"));
  EXPECT_THAT(refusal("cmd=get_result cmd=get_result value=x"), HasSubstr("it has cmd twice"));
  EXPECT_THAT(refusal(std::string("cmd=get_result value=x\0y", 24)), HasSubstr("control"));
  EXPECT_THAT(refusal("cmd=get_result value=x\ncmd=get_result value=y"), HasSubstr("control"));
  EXPECT_THAT(refusal("cmd=get_result value=" + std::string(kMostPmi1Line, 'x')),
              HasSubstr("too long"));
  for (const char* number : {"", "x", "-1", "1x", "4294967296"}) {
    const std::string line = std::string("cmd=maxes keylen_max=") + number;
    EXPECT_THROW(Pmi1Answer(line, "get_maxes", "maxes").number("keylen_max"), EnvironmentError);
  }
}

// What stands in an answer may be a secret.
TEST(Pmi1Wire, RefusalsRepeatNothing) {
  for (const char* line : {"cmd=get_result rc=hunter2 value=hunter2", "cmd=hunter2", "hunter2",
                           "cmd=get_result hunter2", "cmd=get_result rc=1 msg=hunter2",
                           "cmd=get_result value=hunter2 value=hunter2"}) {
    EXPECT_THAT(refusal(line), Not(HasSubstr("hunter2"))) << line;
    EXPECT_NE(refusal(line), "none") << line;
  }
}

TEST(Pmi1Wire, GarbageIsRefusedOrRead) {
  const std::vector<std::string> pieces = {"cmd=",
                                           "get_result",
                                           "rc=0",
                                           "rc=1",
                                           "value=",
                                           " ",
                                           "\t",
                                           "\r",
                                           "=",
                                           "==",
                                           "kvsname=",
                                           "x",
                                           std::string(1, '\0'),
                                           "\x7f",
                                           "\xff",
                                           "99999999999999999999",
                                           std::string(5000, 'a')};
  std::mt19937_64 random(7);
  int read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string line = random() % 2 == 0 ? "cmd=get_result value=x" : "";
    for (std::uint64_t count = random() % 6; count > 0; --count) {
      line += pieces[random() % pieces.size()];
    }
    if (!line.empty() && random() % 4 == 0)
      line[random() % line.size()] = static_cast<char>(random());
    if (random() % 4 == 0) line.resize(random() % (line.size() + 1));
    read += refusal(line) == "none" ? 1 : 0;
  }
  EXPECT_GT(read, 0);
  EXPECT_LT(read, 20'000);
}

}  // namespace
}  // namespace slackline::hw
