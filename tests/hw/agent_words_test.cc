// What a starter and its agents say to each other, and what is refused of it.
#include "hw/launch/agent_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "hw/mesh/secret.h"
#include "tests/support/error_of.h"

namespace slackline::hw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kSecret(64, 'a');

AgentOrder order() { return {6, 2, {1, 3, 5}, "10.0.0.1:4711", kSecret}; }

std::string why_not(const std::string& text) {
  return testing::error_of([&] { agent_order_of(text); });
}

TEST(AgentOrder, IsReadAsItWasWritten) {
  const AgentOrder read = agent_order_of(text_of(order()));
  EXPECT_EQ(read.ranks, 6);
  EXPECT_EQ(read.hosts, 2);
  EXPECT_THAT(read.mine, ElementsAre(1, 3, 5));
  EXPECT_EQ(read.root, "10.0.0.1:4711");
  EXPECT_EQ(read.secret_text, kSecret);
  AgentOrder first = order();
  first.mine = {0};
  first.root = "";
  EXPECT_EQ(agent_order_of(text_of(first)).root, "");
}

TEST(AgentOrder, EndsWhereItsLastLineDoes) {
  const std::string text = text_of(order());
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    EXPECT_FALSE(is_whole_order(text.substr(0, bytes)));
  }
  EXPECT_TRUE(is_whole_order(text));
}

TEST(AgentOrder, WhatIsNone) {
  EXPECT_THAT(why_not(""), HasSubstr("no order of this version; --agent is for its use alone"));
  EXPECT_THAT(why_not("go\n"), HasSubstr("no order of this version"));
  AgentOrder wrong = order();
  wrong.mine = {};
  EXPECT_THAT(why_not(text_of(wrong)), HasSubstr("no ranks of the run"));
  wrong.mine = {6};
  EXPECT_THAT(why_not(text_of(wrong)), HasSubstr("no ranks of the run"));
  wrong.mine = {3, 1};
  EXPECT_THAT(why_not(text_of(wrong)), HasSubstr("no rank"));
  wrong.mine = {0, 1};
  EXPECT_THAT(why_not(text_of(wrong)), HasSubstr("a root that does not fit"));
  wrong = order();
  wrong.root = "";
  EXPECT_THAT(why_not(text_of(wrong)), HasSubstr("a root that does not fit"));
  wrong.root = "nowhere";
  EXPECT_THAT(why_not(text_of(wrong)), HasSubstr("a root that is none"));
  wrong = order();
  wrong.secret_text = "hunter2";
  EXPECT_THAT(why_not(text_of(wrong)), HasSubstr("a secret that is none"));
  EXPECT_THAT(why_not(text_of(wrong)), Not(HasSubstr("hunter2")));
  wrong = order();
  wrong.ranks = 0;
  EXPECT_THAT(why_not(text_of(wrong)), HasSubstr("a number of ranks that is none"));
}

TEST(AgentOrder, GarbageIsRefusedInOneLine) {
  std::mt19937_64 random(17);
  const std::string good = text_of(order());
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (std::uint64_t count = 1 + random() % 3; count > 0; --count) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) text.resize(random() % text.size());
    EXPECT_THAT(why_not(text), Not(HasSubstr(kSecret.substr(0, 16))));
  }
}

// Takes it in pieces of random sizes.
AgentReader read(const std::string& text, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  AgentReader reader;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = std::min<std::size_t>(1 + random() % 37, text.size() - at);
    reader.take(std::string_view(text).substr(at, bytes));
    at += bytes;
  }
  return reader;
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "none";
}

TEST(AgentReader, TakesInWhatAnAgentSays) {
  const std::string out = "a\nend 0 0 0\n" + std::string(3'000, 'x');
  const std::string said = "Welcome to node2\nlast login: today" + agent_hello() +
                           agent_root("[::1]:7") + agent_output(out, false) +
                           agent_output("slackline: note: n\n", true) +
                           agent_end({2, "rank 1: no\nend", true});
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const AgentReader reader = read(said, seed);
    EXPECT_EQ(reader.version(), agent_version());
    EXPECT_EQ(reader.root(), "[::1]:7");
    EXPECT_EQ(reader.out(), out);
    EXPECT_EQ(reader.err(), "slackline: note: n\n");
    ASSERT_TRUE(reader.end());
    EXPECT_EQ(reader.end()->code, 2);
    EXPECT_EQ(reader.end()->message, "rank 1: no\nend");
    EXPECT_TRUE(reader.end()->by_signal);
  }
  EXPECT_TRUE(read(agent_hello() + agent_end({0, "", false})).end());
  EXPECT_FALSE(read(agent_hello() + "end 0 0 5\nfour").end());
}

// In pieces of one byte, the beginning of a long line is passed over before its end is seen.
TEST(AgentReader, AGreetingInTheMiddleOfALongLineIsNone) {
  const std::string greeting = agent_hello().substr(1);
  for (const std::size_t before : {1, 100, 480, 500, 511, 512, 513, 700, 1024}) {
    const std::string long_line = std::string(before, 'x') + greeting;
    const std::string long_greeting =
        greeting.substr(0, greeting.size() - 1) + std::string(before + 512, 'x') + "\n";
    for (const std::string& line : {long_line, long_greeting}) {
      for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, line.size()}) {
        AgentReader reader;
        for (std::size_t at = 0; at < line.size(); at += piece) reader.take(line.substr(at, piece));
        EXPECT_FALSE(reader.version()) << before << ' ' << piece;
        reader.take(greeting);
        EXPECT_EQ(reader.version(), agent_version()) << before << ' ' << piece;
      }
    }
  }
}

TEST(AgentReader, WhereItStopsWaitingForAGreetingIsTheSameInAnyPieces) {
  const std::string greeting = agent_hello().substr(1);
  for (const int more : {-1, 0, 1, 300}) {
    const std::string before((1 << 20) - greeting.size() - 1 + more, 'x');
    for (const std::size_t piece :
         {std::size_t{100}, std::size_t{10'007}, std::size_t{2'000'000}}) {
      const std::string text = before + "\n" + greeting;
      AgentReader reader;
      bool refused = false;
      try {
        for (std::size_t at = 0; at < text.size(); at += piece) reader.take(text.substr(at, piece));
      } catch (const EnvironmentError&) {
        refused = true;
      }
      EXPECT_EQ(refused, more > 0) << more << ' ' << piece;
      EXPECT_EQ(reader.version().has_value(), more <= 0) << more << ' ' << piece;
    }
  }
}

TEST(AgentReader, OutputLongerThanAPiece) {
  const std::string out(5'000'000, 'y');
  AgentReader reader;
  reader.take(agent_hello() + agent_output(out, false));
  EXPECT_EQ(reader.out(), out);
}

TEST(AgentReader, WhatNoAgentSays) {
  const std::string hello = agent_hello();
  EXPECT_THAT(refusal(hello + "root nowhere\n"), HasSubstr("a root that is none"));
  EXPECT_THAT(refusal(hello + agent_root("a:1") + agent_root("a:1")), HasSubstr("a root"));
  EXPECT_THAT(refusal(hello + "out x\n"), HasSubstr("a size that is none"));
  EXPECT_THAT(refusal(hello + "out 99999999999\n"), HasSubstr("a size that is none"));
  EXPECT_THAT(refusal(hello + "out 1048577\n"), HasSubstr("a size that is none"));
  EXPECT_THAT(refusal(hello + "end 0 2 0\n"), HasSubstr("an end that is none"));
  EXPECT_THAT(refusal(hello + "end 256 0 0\n"), HasSubstr("an end that is none"));
  EXPECT_THAT(refusal(hello + "hunter2\n"), Not(HasSubstr("hunter2")));
  EXPECT_THAT(refusal(hello + agent_end({0, "", false}) + "root a:1\n"),
              HasSubstr("after its end"));
  EXPECT_THAT(refusal(hello + std::string(1000, 'x')), HasSubstr("more than 512 bytes"));
  EXPECT_THAT(refusal(std::string(2'000'000, 'x')), HasSubstr("no greeting"));
  std::string lines;
  for (int i = 0; i < 300'000; ++i) lines += "hello\n";
  EXPECT_THAT(refusal(lines), HasSubstr("no greeting"));
}

TEST(AgentReader, GarbageIsRefusedInOneLine) {
  std::mt19937_64 random(19);
  const std::string good = agent_hello() + agent_root("10.0.0.1:7") +
                           agent_output("answer", false) + agent_end({1, "message", false});
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (std::uint64_t count = 1 + random() % 3; count > 0; --count) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    refusal(text);
  }
}

}  // namespace
}  // namespace slackline::hw
