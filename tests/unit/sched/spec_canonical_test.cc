// Every option of every kind of pattern: what a spec says is written as it was read, and a default
// that is given is left out.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "sched/pattern/spec.h"

namespace slackline::sched {
namespace {

// Bases, and the options they take one by one: a value of its own, and the default.
struct Taken {
  std::string base;
  std::vector<std::array<std::string, 3>> options;
};

std::vector<Taken> all_taken() {
  const std::vector<std::array<std::string, 3>> structure = {
      {"operations", "3", "1"},       {"phases", "1", "2"},     {"level", "cw", "crw"},
      {"via", "am", "rdma"},          {"seed", "5", "0"},       {"compute", "3ns", "0ns"},
      {"progress", "thread", "main"}, {"handler", "4ns", "0ns"}};
  return {
      {"chain:ranks=4,bytes=8KiB",
       {{"block", "4KiB", "1MiB"},
        {"root", "2", "0"},
        {"lower", "put", "send"},
        {"in-flight", "2", "1"},
        {"first-block", "copy", "direct"},
        {"ready", "write", "send"},
        {"start", "all", "pairwise"},
        {"window", "2", "1"},
        {"order", "lockstep", "async"},
        {"messages", "2", "1"}}},
      {"hybrid:ranks=9,bytes=8KiB", {{"racks", "2", "3"}}},
      {"ring-buffer:ranks=4,bytes=64",
       {{"messages", "2", "1"}, {"slots", "3", "16"}, {"consume", "in-place", "copy"}}},
      {"table-multicast:ranks=4,bytes=64",
       {{"messages", "2", "1"},
        {"slots", "4", "16"},
        {"batch", "2", "1"},
        {"senders", "2", "1"},
        {"delivery", "stable", "received"}}},
      {"reduce:ranks=4,bytes=64", {{"by", "chain", "circulant"}, {"slots", "2", "16"}}},
      {"call:ranks=4,bytes=64",
       {{"messages", "2", "1"},
        {"slots", "3", "16"},
        {"via", "send", "write"},
        {"chunk", "1KiB", "16MiB"},
        {"chunks", "3", "2"},
        {"chunk-limit", "4", "16"},
        {"notify", "consume", "transmit"},
        {"signal", "0", "64"},
        {"handler", "3ns", "0ns"},
        {"aggregation", "trad", "none"},
        {"flush", "1KiB", "4KiB"}}},
      {"random-access:ranks=4",
       {{"by", "cached", "delegate"},
        {"handler", "3ns", "0ns"},
        {"seed", "2", "1"},
        {"tasks", "3", "16"},
        {"switch", "3ns", "38ns"},
        {"record", "64", "32"},
        {"aggregation", "destination", "none"},
        {"accesses", "3", "1000"},
        {"words", "8", "1024"}}},
      {"hash-table:ranks=4", structure},
      {"queue:ranks=4", structure},
      {"queue:ranks=4", {{"queues", "one", "each"}, {"op", "push", "both"}}},
      {"one-sided:ranks=4",
       {{"operations", "3", "1"},
        {"op", "get", "put"},
        {"variables", "5", "1000"},
        {"seed", "2", "0"}}},
  };
}

TEST(SpecCanonical, EveryOptionIsWrittenAsItIsRead) {
  for (const Taken& pattern : all_taken()) {
    for (const auto& [key, value, standard] : pattern.options) {
      const std::string text = pattern.base + "," + key + "=" + value;
      EXPECT_EQ(format_spec(parse_spec_of_any_size(text)), text);
    }
  }
}

TEST(SpecCanonical, ADefaultIsLeftOut) {
  for (const Taken& pattern : all_taken()) {
    const std::string plain = format_spec(parse_spec_of_any_size(pattern.base));
    EXPECT_EQ(plain, pattern.base);
    for (const auto& [key, value, standard] : pattern.options) {
      EXPECT_EQ(format_spec(parse_spec_of_any_size(pattern.base + "," + key + "=" + standard)),
                plain)
          << key;
    }
  }
}

}  // namespace
}  // namespace slackline::sched
