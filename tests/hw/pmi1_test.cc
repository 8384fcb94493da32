// Ranks that are told rank 0's word by a launcher that speaks PMI-1, and launchers that do not.
#include "hw/launch/pmi1.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/hw/pmi1_server.h"
#include "tests/support/patience.h"

namespace slackline::hw {
namespace {

using ::testing::HasSubstr;
using testing::Pmi1Server;
using namespace std::chrono_literals;

constexpr const char* kCommands[] = {"init", "get_maxes",  "get_my_kvsname", "put",
                                     "get",  "barrier_in", "finalize"};

// What rank 0, alone with the server, comes to.
std::string alone(const Pmi1Server::Spoil& spoil, std::chrono::milliseconds patience = 20s) {
  Pmi1Server server(1, spoil);
  try {
    const SharedWord shared = share_by_pmi1(server.take(0), 0, "the/word", patience);
    return shared.word.empty() ? "none: " + shared.why_none : shared.word;
  } catch (const EnvironmentError& error) {
    const std::string what = error.what();
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return what;
  }
}

TEST(Pmi1, AllRanksGetRank0sWord) {
  constexpr int kRanks = 5;
  Pmi1Server server(kRanks);
  std::vector<std::string> told(kRanks);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.emplace_back([&, rank] {
      told[static_cast<std::size_t>(rank)] =
          share_by_pmi1(server.take(rank), static_cast<std::uint32_t>(rank),
                        rank == 0 ? "10.0.0.1:7/abc" : "", 20s)
              .word;
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_THAT(told, ::testing::Each("10.0.0.1:7/abc"));
}

TEST(Pmi1, AnExchangeThatIsOverIsNone) {
  Pmi1Server server(1);
  Descriptor mine = server.take(0);
  Descriptor again(dup(mine.get()));
  EXPECT_EQ(share_by_pmi1(std::move(mine), 0, "word", 20s).word, "word");
  shutdown(again.get(), SHUT_RDWR);
  const SharedWord second = share_by_pmi1(std::move(again), 0, "word", 20s);
  EXPECT_EQ(second.word, "");
  EXPECT_THAT(second.why_none, HasSubstr("has ended"));
}

TEST(Pmi1, AnotherVersionIsNone) {
  EXPECT_THAT(alone([](int, const std::string& name, std::string answer) {
                return name == "init" ? "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"
                                      : answer;
              }),
              HasSubstr("none: the launcher speaks another version"));
}

TEST(Pmi1, ALauncherThatHangsUp) {
  for (const char* command : kCommands) {
    const std::string what = alone([&](int, const std::string& name, std::string answer) {
      return name == command ? "!" : answer;
    });
    EXPECT_THAT(what, HasSubstr(command == kCommands[0] ? "none: " : "in its middle")) << command;
  }
}

TEST(Pmi1, ALauncherThatSaysNothingIsWaitedForAsLongAsSaid) {
  for (const char* command : kCommands) {
    const auto said = [&](std::chrono::milliseconds patience) {
      return std::vector{alone([&](int, const std::string& name,
                                   std::string answer) { return name == command ? "" : answer; },
                               patience)};
    };
    // Another answer took as long.
    const auto late = HasSubstr("did not answer");
    testing::expect_with_patience(100ms, late, said, [&](std::chrono::milliseconds patience) {
      return ::testing::ElementsAre(
          HasSubstr(fmt::format("did not answer \"{}\" within {} s", command,
                                std::chrono::duration<double>(patience).count())));
    });
  }
}

TEST(Pmi1, AnswersOfTooManyBytesOrLines) {
  for (const char* command : kCommands) {
    for (const std::string& more : {std::string(100'000, 'x'), std::string("\n\n"),
                                    std::string("\ncmd=get_result rc=0 value=z\n")}) {
      EXPECT_THAT(alone([&](int, const std::string& name, std::string answer) {
                    return name == command ? answer.substr(0, answer.size() - 1) + more : answer;
                  }),
                  HasSubstr("none of PMI-1"))
          << command;
    }
  }
}

TEST(Pmi1, LaunchersWithTooLittleRoom) {
  for (const char* most : {"keylen_max=8 vallen_max=1024", "keylen_max=64 vallen_max=64",
                           "keylen_max=0 vallen_max=0"}) {
    EXPECT_THAT(alone([&](int, const std::string& name, std::string answer) {
                  return name == "get_maxes" ? fmt::format("cmd=maxes rc=0 {}\n", most) : answer;
                }),
                HasSubstr("the launcher takes keys of less than"));
  }
}

// Answers cut, spoilt or swapped anywhere: one line, or the word, and never a hang.
TEST(Pmi1, GarbageEndsInOneLine) {
  std::mt19937_64 random(11);
  int told = 0;
  for (int round = 0; round < 400; ++round) {
    const std::string command = kCommands[random() % std::size(kCommands)];
    const std::uint64_t kind = random() % 4;
    const std::uint64_t draw = random();
    const std::string what = alone(
        [&](int, const std::string& name, std::string answer) {
          if (name != command) return answer;
          if (kind == 0) return answer.substr(0, draw % answer.size()) + "\n";
          if (kind == 1) {
            answer[draw % (answer.size() - 1)] = static_cast<char>(draw >> 32);
            return answer;
          }
          if (kind == 2) return std::string(draw % 6000, static_cast<char>(draw >> 32)) + "\n";
          return answer.insert(draw % answer.size(), " rc=0 value=y ");
        },
        3s);
    told += what == "the/word" ? 1 : 0;
  }
  EXPECT_LT(told, 400);
}

}  // namespace
}  // namespace slackline::hw
