#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/error.h"
#include "base/suggest.h"
#include "sched/compile.h"
#include "sched/pattern/rack_map.h"
#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/sched/pattern_checker.h"

namespace slackline::sched {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of(const std::string& text) {
  return testing::error_of([&] { parse_spec(text); });
}

// A file in a folder of its own, gone with its guard.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& content)
      : path_(folder_.write(name, content)) {}
  const std::string& path() const { return path_; }

 private:
  const slackline::testing::TempFolder folder_;
  const std::string path_;
};

TEST(Spec, FillsInDefaults) {
  const Spec spec = parse_spec("binomial-pipeline:ranks=16,bytes=256MiB");
  EXPECT_EQ(spec.pattern, "binomial-pipeline");
  EXPECT_EQ(spec.multicast.ranks, 16u);
  EXPECT_EQ(spec.multicast.bytes, 256u << 20);
  EXPECT_EQ(spec.multicast.block_bytes, 1u << 20);
  EXPECT_EQ(spec.multicast.root, RankId(0));
  EXPECT_TRUE(spec.multicast.rack_of_rank.empty());
  EXPECT_EQ(spec.transfers.lowering, Lowering::kSend);
  EXPECT_EQ(spec.transfers.in_flight, 1u);
  EXPECT_FALSE(spec.transfers.copy_first_block);
  EXPECT_EQ(spec.credits.ready, Ready::kSend);
  EXPECT_EQ(spec.credits.start, Start::kPairwise);
  EXPECT_EQ(spec.credits.window, 1u);
}

TEST(Spec, ReadsEveryOptionInAnyOrder) {
  const Spec spec = parse_spec(
      "hybrid:window=3,start=all,ready=write,first-block=copy,in-flight=0,lower=put,racks=2,root=5,"
      "block=1KB,bytes=10KB,ranks=6");
  EXPECT_EQ(spec.multicast.ranks, 6u);
  EXPECT_EQ(spec.multicast.bytes, 10'000u);
  EXPECT_EQ(spec.multicast.block_bytes, 1000u);
  EXPECT_EQ(spec.multicast.root, RankId(5));
  EXPECT_EQ(spec.multicast.rack_of_rank, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(spec.transfers.lowering, Lowering::kPut);
  EXPECT_EQ(spec.transfers.in_flight, 0u);
  EXPECT_TRUE(spec.transfers.copy_first_block);
  EXPECT_EQ(spec.credits.ready, Ready::kWrite);
  EXPECT_EQ(spec.credits.start, Start::kAll);
  EXPECT_EQ(spec.credits.window, 3u);
}

struct Wrong {
  std::string text;
  std::string part;  // of the message
};

TEST(Spec, SaysWhatIsWrong) {
  const std::vector<Wrong> table = {
      {"", "unknown pattern ''; known: sequential, chain"},
      {"binomal-tree:ranks=4,bytes=1", "unknown pattern 'binomal-tree': did you mean 'binomial"},
      {"gossip:ranks=4,bytes=1", "unknown pattern 'gossip'; known: "},
      {"chain", "ranks: missing; expected ranks=16"},
      {"chain:", "ranks: missing"},
      {"chain:ranks=4", "bytes: missing; expected bytes=256MiB"},
      {"chain:rank=4,bytes=1", "chain: unknown option 'rank': did you mean 'ranks'?"},
      {"chain:ranks=4,bytes=1,blocks=1", "did you mean 'block'?"},
      {"chain:ranks=4, bytes=1", "did you mean 'bytes'?"},
      {"chain:ranks=4,bytes=1,colour=red", "unknown option 'colour'; known: ranks, bytes, block,"},
      {"chain:ranks", "ranks: no value; expected ranks=value"},
      {"chain:ranks=,bytes=1", "ranks: no value; expected ranks=value"},
      {"chain:ranks=4,bytes=1,", "a comma without an option"},
      {"chain:ranks=4,,bytes=1", "a comma without an option"},
      {"chain:,ranks=4,bytes=1", "a comma without an option"},
      {"chain:ranks=4,bytes=1,ranks=4", "ranks: given twice"},
      {"chain:ranks=0,bytes=1", "ranks: '0' is not a whole number from 1 to 16777216"},
      {"chain:ranks=16777217,bytes=1", "ranks: '16777217' is not"},
      {"chain:ranks=-1,bytes=1", "ranks: '-1' is not"},
      {"chain:ranks=4x,bytes=1", "ranks: '4x' is not"},
      {"chain:ranks=99999999999999999999,bytes=1", "ranks: '99999999999999999999' is not"},
      {"chain:ranks=4,bytes=-1", "bytes: '-1' is not a size"},
      {"chain:ranks=4,bytes=1.5", "bytes: '1.5' is not a size"},
      {"chain:ranks=4,bytes=9223372036854775808", "bytes: '9223372036854775808' is not a size"},
      {"chain:ranks=4,bytes=1,block=0", "block: 0 bytes; expected at least 1"},
      {"chain:ranks=4,bytes=1,block=", "block: no value"},
      {"chain:ranks=4,bytes=1,block=8TiB", "block: '8TiB' is not a size"},
      {"chain:ranks=4,bytes=1GiB,block=1,ready=none", "block: 1073741824 blocks to 3 ranks make"},
      {"chain:ranks=1,bytes=9223372036854775807,block=1", "expected at most 2147483648"},
      {"chain:ranks=16777216,bytes=64MiB", "operations; expected at most 2147483648"},
      {"chain:ranks=4,bytes=1,root=4", "root: '4' is not a whole number from 0 to 3"},
      {"chain:root=4,ranks=4,bytes=1", "root: '4' is not a whole number from 0 to 3"},
      {"chain:ranks=4,bytes=1,racks=2", "racks: not an option of chain; hybrid takes it"},
      {"chain:ranks=4,bytes=1,rack-map=x", "rack-map: not an option of chain; hybrid takes it"},
      {"hybrid:ranks=4,bytes=1,racks=0", "racks: '0' is not a whole number from 1 to 4"},
      {"hybrid:ranks=4,bytes=1,racks=5", "racks: '5' is not a whole number from 1 to 4"},
      {"hybrid:ranks=4,bytes=1,racks=2,rack-map=x", "racks: given beside rack-map"},
      {"hybrid:ranks=4,bytes=1,rack-map=/no/such",
       "rack-map: /no/such: cannot open: No such file or directory"},
      {"chain:ranks=4,bytes=1,window=0", "window: '0' is not a whole number from 1"},
      {"chain:ranks=4,bytes=1,in-flight=-1", "in-flight: '-1' is not a whole number from 0"},
      {"chain:ranks=4,bytes=1,in-flight=4294967296", "in-flight: '4294967296' is not"},
      {"chain:ranks=4,bytes=1,ready=maybe", "ready: 'maybe'; expected send or write or none"},
      {"chain:ranks=4,bytes=1,start=any", "start: 'any'; expected pairwise or all"},
      {"chain:ranks=4,bytes=1,first-block=x", "first-block: 'x'; expected direct or copy"},
      {"chain:ranks=4,bytes=1,lower=Send", "lower: 'Send'; expected send or put"},
  };
  for (const auto& [text, part] : table) {
    EXPECT_THAT(error_of(text), AllOf(HasSubstr(part), Not(HasSubstr("\n")))) << text;
  }
}

TEST(Spec, BoundsOperationsWithTheirCredits) {
  const std::string fits = "chain:ranks=2,bytes=536870912,block=1";
  EXPECT_NO_THROW(parse_spec(fits));
  EXPECT_THAT(error_of(fits + ",first-block=copy"), HasSubstr("2147483649 operations"));
  EXPECT_THAT(error_of("chain:ranks=2,bytes=536870913,block=1"), HasSubstr("2147483652"));
  EXPECT_NO_THROW(parse_spec("chain:ranks=2,bytes=1GiB,block=1,ready=none"));
  EXPECT_NO_THROW(parse_spec("chain:ranks=1,bytes=2GiB,block=1"));
}

TEST(Spec, CanonicalTextLeavesDefaultsOut) {
  EXPECT_EQ(format_spec(parse_spec("chain:block=1024KiB,window=1,bytes=0,root=0,ranks=3")),
            "chain:ranks=3,bytes=0");
  EXPECT_EQ(format_spec(parse_spec("hybrid:ranks=9,bytes=1MB,racks=3")),
            "hybrid:ranks=9,bytes=1000000");
  EXPECT_EQ(
      format_spec(parse_spec("hybrid:window=3,start=all,ready=write,first-block=copy,in-flight"
                             "=0,lower=put,racks=2,root=5,block=1KiB,bytes=10KiB,ranks=6")),
      "hybrid:ranks=6,bytes=10KiB,block=1KiB,root=5,racks=2,lower=put,in-flight=0,first-block"
      "=copy,ready=write,start=all,window=3");
}

void expect_same(const Spec& a, const Spec& b) {
  EXPECT_EQ(a.pattern, b.pattern);
  EXPECT_EQ(a.multicast.ranks, b.multicast.ranks);
  EXPECT_EQ(a.multicast.bytes, b.multicast.bytes);
  EXPECT_EQ(a.multicast.block_bytes, b.multicast.block_bytes);
  EXPECT_EQ(a.multicast.root, b.multicast.root);
  EXPECT_EQ(a.multicast.rack_of_rank, b.multicast.rack_of_rank);
  EXPECT_EQ(a.transfers.lowering, b.transfers.lowering);
  EXPECT_EQ(a.transfers.in_flight, b.transfers.in_flight);
  EXPECT_EQ(a.transfers.copy_first_block, b.transfers.copy_first_block);
  EXPECT_EQ(a.credits.ready, b.credits.ready);
  EXPECT_EQ(a.credits.start, b.credits.start);
  EXPECT_EQ(a.credits.window, b.credits.window);
  EXPECT_EQ(a.rack_map, b.rack_map);
}

TEST(Spec, CanonicalTextIsReadBack) {
  std::mt19937 random(11);
  const auto up_to = [&](std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
  };
  for (int i = 0; i < 2000; ++i) {
    const PatternEntry& pattern =
        plan_patterns()[up_to(static_cast<std::uint32_t>(plan_patterns().size()))];
    Spec spec;
    spec.pattern = pattern.name;
    spec.multicast.ranks = 1 + up_to(50);
    spec.multicast.bytes = up_to(1u << 20) * (up_to(2) == 0 ? 1u : 1024u);
    spec.multicast.block_bytes = (1 + up_to(2048)) * 1024;
    spec.multicast.root = RankId(up_to(spec.multicast.ranks));
    const std::uint32_t racks = 1 + up_to(spec.multicast.ranks);
    if (pattern.find_option("racks") != nullptr &&
        racks != default_rack_count(spec.multicast.ranks)) {
      spec.multicast.rack_of_rank = contiguous_racks(spec.multicast.ranks, racks);
    }
    spec.transfers.lowering = static_cast<Lowering>(up_to(2));
    spec.transfers.in_flight = up_to(4);
    spec.transfers.copy_first_block = up_to(2) != 0;
    spec.credits.ready = static_cast<Ready>(up_to(3));
    spec.credits.start = static_cast<Start>(up_to(2));
    spec.credits.window = 1 + up_to(4);
    const std::string text = format_spec(spec);
    expect_same(parse_spec(text), spec);
    EXPECT_EQ(format_spec(parse_spec(text)), text);
  }
}

TEST(Spec, MakesThePlanWithItsTitle) {
  for (const PatternEntry& pattern : plan_patterns()) {
    const std::string text = std::string(pattern.name) + ":ranks=7,bytes=20KiB,block=3KiB,root=2";
    const Plan plan = plan_of(parse_spec(text));
    EXPECT_EQ(plan.title, text);
    EXPECT_EQ(plan.blocks, 7u);
    EXPECT_EQ(plan.bytes_of(6), 2048u);
    EXPECT_EQ(plan.root, RankId(2));
    EXPECT_EQ(broken_promise(plan), "");
  }
  Spec spec;
  spec.pattern = "gossip";
  EXPECT_THROW(plan_of(spec), InputError);
}

TEST(Compile, RunsThePassesThatTheSpecAsksFor) {
  for (const PatternEntry& pattern : plan_patterns()) {
    const std::string plain = std::string(pattern.name) + ":ranks=6,bytes=10KiB,block=3KiB,root=1";
    const std::uint32_t transfers = 5 * 4;
    const Schedule without = compile(parse_spec(plain + ",ready=none"));
    EXPECT_EQ(without.title(), plain + ",ready=none");
    EXPECT_EQ(without.rank_count(), 6u);
    EXPECT_EQ(without.message_bytes(), 10'240u);
    // Rank 1 of the tree relays, and waits for the whole message in one more operation.
    EXPECT_EQ(without.op_count(), 2 * transfers + (pattern.name == "binomial-tree" ? 1 : 0));
    const Schedule with = compile(parse_spec(plain));
    EXPECT_EQ(with.title(), plain);
    EXPECT_EQ(with.op_count(), without.op_count() + 2 * transfers);
  }
}

TEST(Compile, TakesEveryCombinationOfOptions) {
  for (const PatternEntry& pattern : plan_patterns()) {
    for (const std::string lower : {"send", "put"}) {
      for (const std::string first : {"direct", "copy"}) {
        for (const std::string ready : {"send", "write", "none"}) {
          for (const std::string start : {"pairwise", "all"}) {
            for (const std::string size : {"ranks=1,bytes=9", "ranks=5,bytes=0", "ranks=7,bytes=9",
                                           "ranks=8,bytes=9,root=3,window=2,in-flight=0"}) {
              const Spec spec =
                  parse_spec(std::string(pattern.name) + ":block=4," + size + ",lower=" + lower +
                             ",first-block=" + first + ",ready=" + ready + ",start=" + start);
              EXPECT_EQ(compile(spec).title(), format_spec(spec));
              EXPECT_EQ(compile(spec).rank_count(), spec.multicast.ranks);
            }
          }
        }
      }
    }
  }
}

TEST(Spec, ReadsARackMap) {
  const TemporaryFile file("racks_good", "# two racks\n1\n0 # the first\n\n\t 1\r\n0");
  const std::string text = "hybrid:ranks=4,bytes=1,rack-map=" + file.path();
  const Spec spec = parse_spec(text);
  EXPECT_EQ(spec.multicast.rack_of_rank, (std::vector<std::uint32_t>{1, 0, 1, 0}));
  EXPECT_EQ(format_spec(spec), text);
  EXPECT_EQ(broken_promise(plan_of(spec)), "");
  Spec without_file = spec;
  without_file.rack_map.clear();
  EXPECT_EQ(format_spec(without_file), "hybrid:ranks=4,bytes=1,rack-map=?");
}

TEST(Spec, SaysWhatIsWrongWithARackMap) {
  const std::vector<Wrong> table = {
      {"", "racks of 0 ranks; expected one for each of 3"},
      {"0\n0\n", "racks of 2 ranks; expected one for each of 3"},
      {"0\n0\n0\n\n0\n", ":5: one rack more; expected 3"},
      {"0\n1 1\n0\n", ":2: '1 1' is not a whole number from 0 to 2"},
      {"0\n#\n-1\n0\n", ":3: '-1' is not a whole number from 0 to 2"},
      {"0\n3\n0\n", ":2: '3' is not a whole number from 0 to 2"},
      {"0\n2\n0\n", "no rank is in rack 1; expected racks 0 to 2 without gaps"},
      {"1\n1\n1\n", "no rank is in rack 0; expected racks 0 to 1 without gaps"},
  };
  for (const auto& [content, part] : table) {
    const TemporaryFile file("racks_bad", content);
    EXPECT_THAT(error_of("hybrid:ranks=3,bytes=1,rack-map=" + file.path()),
                AllOf(HasSubstr(part), HasSubstr(file.path())))
        << content;
  }
}

TEST(Spec, IsToldFromAFileName) {
  for (const PatternEntry& pattern : plan_patterns()) EXPECT_TRUE(looks_like_spec(pattern.name));
  EXPECT_TRUE(looks_like_spec("chain:ranks=4"));
  EXPECT_TRUE(looks_like_spec("chain:"));
  EXPECT_TRUE(looks_like_spec("hybrid:ranks=4,rack-map=/tmp/map"));
  EXPECT_TRUE(looks_like_spec("binomal:ranks=4"));
  EXPECT_TRUE(looks_like_spec("hybird:ranks=4,rack-map=/tmp/map"));
  EXPECT_TRUE(looks_like_spec("chian"));
  EXPECT_FALSE(looks_like_spec(""));
  EXPECT_FALSE(looks_like_spec("-"));
  EXPECT_FALSE(looks_like_spec("schedule.txt"));
  EXPECT_FALSE(looks_like_spec("./chain"));
  EXPECT_FALSE(looks_like_spec("out/chain:1.txt"));
  EXPECT_FALSE(looks_like_spec(":ranks=4"));
}

TEST(Spec, GivesWayToAFileOfThatName) {
  const std::filesystem::path before = std::filesystem::current_path();
  const slackline::testing::TempFolder folder;
  std::filesystem::current_path(folder.path());
  EXPECT_TRUE(looks_like_spec("chian:1"));
  folder.write("chian:1", "");
  EXPECT_FALSE(looks_like_spec("chian:1"));
  std::filesystem::current_path(before);
}

TEST(Suggest, FindsTheNearestName) {
  const std::vector<std::string_view> names = {"chain", "circulant", "hybrid", "go"};
  EXPECT_EQ(nearest_name("chian", names), "chain");
  EXPECT_EQ(nearest_name("chai", names), "chain");
  EXPECT_EQ(nearest_name("circulants", names), "circulant");
  EXPECT_EQ(nearest_name("hyb", names), "");
  EXPECT_EQ(nearest_name("xy", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'x'), names), "");
}

}  // namespace
}  // namespace slackline::sched
