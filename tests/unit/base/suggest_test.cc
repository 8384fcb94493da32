// Which known name is suggested for a mistaken one.
#include "base/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace slackline::sched {
namespace {

std::string nearest(std::string_view given, const std::vector<std::string_view>& names) {
  return std::string(nearest_name(given, names));
}

TEST(SuggestedName, UpToTwoErrors) {
  const std::vector<std::string_view> names = {"window", "chunks"};
  EXPECT_EQ(nearest("window", names), "window");
  EXPECT_EQ(nearest("windw", names), "window");     // one too few
  EXPECT_EQ(nearest("windoow", names), "window");   // one too many
  EXPECT_EQ(nearest("wimdow", names), "window");    // one changed
  EXPECT_EQ(nearest("wnidow", names), "window");    // two
  EXPECT_EQ(nearest("windowxy", names), "window");  // two too many
  EXPECT_EQ(nearest("wind", names), "window");
  EXPECT_EQ(nearest("xhunky", names), "chunks");
  EXPECT_EQ(nearest("windowxyz", names), "");
  EXPECT_EQ(nearest("win", names), "");
  EXPECT_EQ(nearest("xyndox", names), "");
  EXPECT_EQ(nearest("indowww", names), "");
  EXPECT_EQ(nearest("", names), "");
}

TEST(SuggestedName, TheNearestAndOfEquallyNearTheFirst) {
  EXPECT_EQ(nearest("aaaa", {"aabb", "aaab", "aaba"}), "aaab");
  EXPECT_EQ(nearest("aaaa", {"aabb", "aacc"}), "aabb");
}

TEST(SuggestedName, NothingThatSharesNoLetterWithAShortName) {
  EXPECT_EQ(nearest("xy", {"ab"}), "");
  EXPECT_EQ(nearest("ay", {"ab"}), "ab");
  EXPECT_EQ(nearest("a", {"ab"}), "");
  EXPECT_EQ(nearest("abc", {"a"}), "");
}

TEST(SuggestedName, CapitalLettersAreNoError) {
  EXPECT_EQ(nearest("CHUNKS", {"window", "chunks"}), "chunks");
  EXPECT_EQ(nearest("gib", {"MiB", "GiB"}), "GiB");
}

TEST(DidYouMean, NamesTheNearestOrThoseThatHaveTheWord) {
  const std::vector<std::string_view> names = {"binomial-tree", "binary-tree", "double-tree",
                                               "binomial-pipeline", "chain"};
  EXPECT_EQ(did_you_mean("chian", names), ": did you mean 'chain'?");
  EXPECT_EQ(did_you_mean("pipeline", names), ": did you mean 'binomial-pipeline'?");
  EXPECT_EQ(did_you_mean("binomial", names),
            ": did you mean 'binomial-tree' or 'binomial-pipeline'?");
  EXPECT_EQ(did_you_mean("tree", names),
            ": did you mean 'binomial-tree', 'binary-tree' or 'double-tree'?");
  EXPECT_EQ(did_you_mean("in", names), "") << "two letters say nothing";
  EXPECT_EQ(did_you_mean("ring", names), "");
  const std::vector<std::string_view> many = {"tree-1", "tree-2", "tree-3", "tree-4", "tree-5"};
  EXPECT_EQ(did_you_mean("tree", many), ": did you mean 'tree-1'?") << "two letters more";
  EXPECT_EQ(did_you_mean("ree", many), "") << "more than four are no help";
}

TEST(SuggestedName, AMessageListsTheNamesUnlessTheyAreMany) {
  const std::vector<std::string_view> few = {"window", "chunks"};
  EXPECT_EQ(unknown_name("option", "windw", few),
            "unknown option 'windw': did you mean 'window'?; known: window, chunks");
  EXPECT_EQ(unknown_name("option", "zzz", few), "unknown option 'zzz'; known: window, chunks");
  std::vector<std::string> made;
  for (int i = 0; i < 25; ++i) made.push_back("name-" + std::to_string(100 + i));
  std::vector<std::string_view> many(made.begin(), made.end());
  EXPECT_EQ(unknown_name("option", "name_124", many),
            "unknown option 'name_124': did you mean 'name-124'?");
  EXPECT_TRUE(unknown_name("option", "zzz", many).ends_with(", name-124"));
  many.pop_back();
  EXPECT_TRUE(unknown_name("option", "name_123", many).ends_with(", name-123"));
}

}  // namespace
}  // namespace slackline::sched
