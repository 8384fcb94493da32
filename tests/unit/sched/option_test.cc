// Patterns' lists of options: what is read, written and listed follows from them alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sched/pattern/chain.h"
#include "sched/pattern/pattern.h"
#include "sched/pattern/sequential.h"
#include "sched/pattern/shared_options.h"
#include "tests/support/error_of.h"

namespace slackline::sched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// What a file of a pattern's own declares: where its values stand, its list, and its entry.
enum class Gossip : std::uint8_t { kPush, kPull };
struct GossipOptions {
  std::uint32_t fanout = 2;
  Gossip way = Gossip::kPush;
};
constexpr auto kGossipOptions = option_list(
    kRanksOption, kBytesOption,
    count_option<&GossipOptions::fanout>("fanout", "1 to 8", "whom a rank tells in a step", 1, 8),
    choice_option<&GossipOptions::way>("way", "push|pull", "who begins"), kMessagesOption);
// No gossip, but a Plan that shows what it was told.
Plan gossip(const MulticastOptions& options) {
  const GossipOptions& own = options.own.get<GossipOptions>();
  Plan plan = own.way == Gossip::kPush ? chain(options) : sequential(options);
  plan.block_bytes *= own.fanout;
  return plan;
}
constinit const PatternEntry kGossipPattern = {"gossip", "ranks tell others drawn at random",
                                               kGossipOptions, gossip};

std::string error_of(const PatternEntry& pattern, const std::string& text) {
  return testing::error_of([&] { parse_options(pattern, text); });
}

TEST(OwnOptions, AreReadAndWritten) {
  const Spec spec = parse_options(kGossipPattern, "way=pull,ranks=8,fanout=3,bytes=1KiB");
  EXPECT_EQ(spec.pattern, "gossip");
  EXPECT_EQ(spec.multicast.ranks, 8u);
  EXPECT_EQ(spec.own<GossipOptions>().fanout, 3u);
  EXPECT_EQ(spec.own<GossipOptions>().way, Gossip::kPull);
  EXPECT_EQ(format_spec(kGossipPattern, spec), "gossip:ranks=8,bytes=1KiB,fanout=3,way=pull");
}

TEST(OwnOptions, ReachThePlan) {
  const auto plan = [](const std::string& text) {
    return kGossipPattern.plan(parse_options(kGossipPattern, text).multicast);
  };
  EXPECT_EQ(plan("ranks=4,bytes=4MiB").steps, 6u);  // of a chain: 4 blocks, 3 hops
  EXPECT_EQ(plan("ranks=4,bytes=4MiB,way=pull").steps, 12u);
  EXPECT_EQ(plan("ranks=4,bytes=4MiB,fanout=3").block_bytes, 3u << 20);
}

TEST(OwnOptions, HaveDefaultsThatAreLeftOut) {
  const Spec spec = parse_options(kGossipPattern, "fanout=2,ranks=8,bytes=0,way=push");
  EXPECT_EQ(format_spec(kGossipPattern, spec), "gossip:ranks=8,bytes=0");
  const Spec plain = parse_options(kGossipPattern, "ranks=8,bytes=0");
  EXPECT_EQ(plain.own<GossipOptions>().fanout, 2u);
  EXPECT_EQ(format_spec(kGossipPattern, plain), "gossip:ranks=8,bytes=0");
}

TEST(OwnOptions, RefuseWrongValues) {
  const std::string base = "ranks=8,bytes=0,";
  EXPECT_EQ(error_of(kGossipPattern, base + "fanout=9"),
            "fanout: '9' is not a whole number from 1 to 8");
  EXPECT_EQ(error_of(kGossipPattern, base + "way=both"), "way: 'both'; expected push or pull");
  EXPECT_EQ(error_of(kGossipPattern, base + "fanuot=3"),
            "gossip: unknown option 'fanuot': did you mean 'fanout'?; known: ranks, bytes, fanout, "
            "way, messages");
  EXPECT_EQ(error_of(kGossipPattern, base + "racks=2"),
            "racks: not an option of gossip; hybrid takes it");
  EXPECT_EQ(error_of(kGossipPattern, "ranks=8"), "bytes: missing; expected bytes=256MiB");
  EXPECT_EQ(error_of(kGossipPattern, base + "fanout="), "fanout: no value; expected fanout=value");
}

TEST(OwnOptions, AreListed) {
  std::vector<std::string> lines;
  for (const Option& option : kGossipPattern.options) {
    lines.push_back(std::string(option.key) + " " + std::string(option.values) + " " +
                    option.explained());
  }
  EXPECT_THAT(lines, ElementsAre("ranks 1 to 16777216 how many ranks; required",
                                 "bytes a size, 0 or more the message; required",
                                 "fanout 1 to 8 whom a rank tells in a step; 2",
                                 "way push|pull who begins; push",
                                 "messages 1 or more how many, one after the other; 1"));
}

TEST(OwnOptions, OfSeveralKindsStandBesideEachOther) {
  struct Other {
    std::uint32_t fanout = 5;
  };
  OwnOptions own;
  own.edit<GossipOptions>().fanout = 4;
  own.edit<Other>().fanout = 6;
  own.edit<GossipOptions>().way = Gossip::kPull;
  const OwnOptions copy = own;
  own.edit<Other>().fanout = 7;
  EXPECT_EQ(copy.get<GossipOptions>().fanout, 4u);
  EXPECT_EQ(copy.get<GossipOptions>().way, Gossip::kPull);
  EXPECT_EQ(copy.get<Other>().fanout, 6u);
  EXPECT_EQ(OwnOptions().get<Other>().fanout, 5u);
}

// What is wrong is said of the option; patterns by name and trees are looked up later.
TEST(PatternOptions, AreAllRead) {
  const std::set<std::string_view> any_text = {"by", "tree"};
  for (const PatternEntry& pattern : patterns()) {
    for (const Option& option : pattern.options) {
      if (any_text.contains(option.key)) continue;
      std::string text = std::string(option.key) + "=/definitely/wrong";
      for (const std::string required : {"ranks", "bytes"}) {
        if (option.key != required && pattern.find_option(required) != nullptr) {
          text += "," + required + "=4";
        }
      }
      EXPECT_THAT(error_of(pattern, text), StartsWith(std::string(option.key) + ": "))
          << pattern.name;
    }
  }
}

TEST(PatternOptions, HaveOneMeaningInEachPattern) {
  for (const PatternEntry& pattern : patterns()) {
    std::set<std::string_view> keys;
    for (const Option& option : pattern.options) {
      EXPECT_TRUE(keys.insert(option.key).second) << pattern.name << " " << option.key;
    }
    EXPECT_TRUE(keys.contains("ranks")) << pattern.name;
    EXPECT_EQ(pattern.plan == nullptr, pattern.schedule != nullptr) << pattern.name;
    EXPECT_EQ(pattern.schedule == nullptr, pattern.op_count == nullptr) << pattern.name;
  }
}

// A list of options shows both; values are short, and what they mean ends with the default.
TEST(PatternOptions, SayTheirValuesBeforeWhatTheyMean) {
  for (const PatternEntry& pattern : patterns()) {
    for (const Option& option : pattern.options) {
      EXPECT_EQ(option.values.find(';'), std::string_view::npos) << option.key;
      EXPECT_EQ(option.values.find(": "), std::string_view::npos) << option.key;
      EXPECT_EQ(option.meaning.find(';'), std::string_view::npos) << option.key;
      if (option.key == "rack-map") continue;
      EXPECT_THAT(option.explained(), HasSubstr("; ")) << option.key;
    }
  }
}

// The default that a list shows is the one that stands in for a value that is not given.
TEST(PatternOptions, ListTheDefaultThatIsLeftOut) {
  for (const PatternEntry& pattern : patterns()) {
    std::string base = "ranks=4";
    if (pattern.find_option("bytes") != nullptr) base += ",bytes=4";
    const std::string plain = format_spec(pattern, parse_options(pattern, base));
    for (const Option& option : pattern.options) {
      if (!option.example.empty() || !option.otherwise.empty() || option.key == "rack-map")
        continue;
      const std::string standard = option.write(option, Spec());
      const std::string text = base + "," + std::string(option.key) + "=" + standard;
      EXPECT_EQ(format_spec(pattern, parse_options(pattern, text)), plain) << text;
    }
  }
}

}  // namespace
}  // namespace slackline::sched
