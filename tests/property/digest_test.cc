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
      {"sequential", "f22370105a595654502f70f3dabfbc2c"},
      {"chain", "8e68f7a829fef9c937c0c365100a7d41"},
      {"binomial-tree", "e6e6d470feb8de99bb00227b958471b7"},
      {"binomial-pipeline", "1be4033ec65c381148022e4f2cd03051"},
      {"circulant", "d40d012242dd482c9180b5372bf91096"},
      {"hybrid", "fc10d04515cf99c388012c1e120b0d43"},
      {"scatter-allgather", "f810635f58efa53c408064d79525f2ed"},
      {"binary-tree", "e14835e5cf7275a58f819748213f2f4d"},
      {"double-tree", "a2ff0030e5011dedb7cfe90161c894a9"}};
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
