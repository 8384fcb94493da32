// When the messages of a workload arrive, and what keeps them from it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/workload.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string group(const std::string& rest) {
  return "ranks = 4\n[[group]]\nranks = [0, 1]\nschedule = \"chain:block=1KB\"\nbytes = \"4KB\"\n" +
         rest;
}

std::string error_of(const std::string& text) {
  return testing::error_of([&] { workload_from_toml(text, "w.toml"); });
}

TEST(WorkloadArrivals, ADrawWithoutEndIsRefused) {
  const std::string error =
      error_of(group("messages = 60\narrivals = { distribution = \"lognormal\", median = \"1us\", "
                     "sigma = 60 }\n"));
  EXPECT_THAT(error, StartsWith("w.toml:2"));
  EXPECT_THAT(error, HasSubstr("a random time of"));
}

TEST(WorkloadArrivals, TheirSumHasAnEnd) {
  // Of 2^63 - 1 ps, which are 9223372.036854775807 s.
  const auto every = [](const std::string& time, int messages) {
    return error_of(group(
        fmt::format("messages = {}\narrivals = {{ distribution = \"constant\", every = \"{}\" }}\n",
                    messages, time)));
  };
  EXPECT_EQ(every("4611686s", 3), "");
  EXPECT_EQ(every("4611686s", 4),
            "w.toml:2: group: messages arrive later than a time can say; expected less");
  EXPECT_EQ(every("9223372036854775806ps", 2), "");
  EXPECT_THAT(error_of(group("messages = 2\nstart = \"1ps\"\narrivals = { distribution = "
                             "\"constant\", every = \"9223372036854775806ps\" }\n")),
              HasSubstr("later than a time can say"));
}

}  // namespace
}  // namespace slackline::machine
