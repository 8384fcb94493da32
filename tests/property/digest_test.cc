// The same spec is the same schedule: on every machine, in every build, in whatever order its
// options are written. A digest that changes here changes what every stored trace and file refers
// to: raise kDigestVersion if the encoding did, and say so if a pattern did.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "sched/compile.h"

namespace slackline::sched {
namespace {

std::string digest_of_spec(const std::string& text) {
  return to_string(compile(parse_spec(text)).digest());
}

TEST(Digest, OfEveryPatternIsPinned) {
  const std::map<std::string, std::string> pinned = {
      {"sequential", "3f4df3df1d317839cd14db6036f7e0a5"},
      {"chain", "e4d0838a1494152b2c657bef2b4a1972"},
      {"binomial-tree", "cd2a0adf1c747e27daf92f6307f1b1c0"},
      {"binomial-pipeline", "08de92c140b3cf485ae0bfed4e911ea3"},
      {"circulant", "288581879e0a63cef03306a69e50d114"},
      {"hybrid", "e9d26136012d50fb5a7bfc9126db8328"},
      {"scatter-allgather", "2b4d30714f9b6f78487e67e976d27d0e"},
      {"binary-tree", "e129658d4ad8167603caebda52caad16"},
      {"double-tree", "1a0a291c347473c51646e22f7a7ac1a0"}};
  for (const PatternEntry& pattern : plan_patterns()) {
    const std::string name(pattern.name);
    ASSERT_TRUE(pinned.contains(name)) << name;
    EXPECT_EQ(digest_of_spec(name + ":ranks=11,bytes=1000003,block=64KiB,root=3"), pinned.at(name))
        << name;
  }
}

TEST(Digest, DoesNotDependOnTheOrderOfOptions) {
  std::vector<std::string> options = {"ranks=12",  "bytes=700001",    "block=4KiB", "root=5",
                                      "window=2",  "ready=write",     "start=all",  "in-flight=2",
                                      "lower=put", "first-block=copy"};
  const auto spec = [&] {
    std::string text = "binomial-pipeline:";
    for (const std::string& option : options) {
      text += (text.back() == ':' ? "" : ",") + option;
    }
    return text;
  };
  const std::string expected = digest_of_spec(spec());
  std::mt19937 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    std::shuffle(options.begin(), options.end(), random);
    EXPECT_EQ(digest_of_spec(spec()), expected) << spec();
  }
}

TEST(Digest, TellsEveryOptionApart) {
  const std::string base = "hybrid:ranks=12,bytes=700001,block=4KiB";
  std::vector<std::string> digests = {digest_of_spec(base)};
  for (const char* option : {"root=1", "window=2", "ready=write", "ready=none", "start=all",
                             "in-flight=2", "lower=put", "first-block=copy", "racks=2"}) {
    digests.push_back(digest_of_spec(base + "," + option));
  }
  std::sort(digests.begin(), digests.end());
  EXPECT_EQ(std::adjacent_find(digests.begin(), digests.end()), digests.end());
}

}  // namespace
}  // namespace slackline::sched
