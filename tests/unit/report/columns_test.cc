#include "report/columns.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "report/base64.h"
#include "tests/unit/report/unpack.h"

namespace slackline::report {
namespace {

using Values = std::vector<std::int64_t>;

constexpr std::int64_t kMost = (std::int64_t{1} << 52) - 1;

Values there_and_back(const Values& values, Coding coding) {
  return testing::values_of(packed("x", values, coding));
}

TEST(Columns, ComeBackAsTheyWere) {
  const std::vector<Values> all = {
      {},
      {0},
      {0, 0, 0},
      {7, 7, 7, 7},
      {-1, 0, 1, 127, 128, -128, -129, 255, 256, 65535, 65536},
      {kMost, 0, -kMost},
      {1'000'000'000'000, 1'000'000'000'001, 1'000'000'000'005},
  };
  for (const Values& values : all) {
    EXPECT_EQ(there_and_back(values, Coding::kValues), values);
  }
  for (const Values& values : all) {
    if (!values.empty() && values.front() == kMost) continue;
    EXPECT_EQ(there_and_back(values, Coding::kDifferences), values);
  }
}

TEST(Columns, OfRandomNumbersOfAnySizeComeBack) {
  std::mt19937_64 random(7);
  for (int bits = 1; bits < 52; ++bits) {
    Values values;
    for (int i = 0; i < 300; ++i) {
      const auto size = static_cast<std::int64_t>(random() >> (64 - bits));
      values.push_back((random() & 1) != 0 && bits < 51 ? -size : size);
    }
    EXPECT_EQ(there_and_back(values, Coding::kValues), values) << bits;
    EXPECT_EQ(there_and_back(values, Coding::kDifferences), values) << bits;
  }
}

TEST(Columns, SayWhatAPageNeedsToKnow) {
  const PackedColumn column = packed("run0.issued", Values{5, 300, -2}, Coding::kValues);
  EXPECT_EQ(column.name, "run0.issued");
  EXPECT_EQ(column.count, 3u);
  EXPECT_EQ(column.planes, 2u);
  EXPECT_EQ(column.least, -2);
  EXPECT_EQ(column.most, 300);
  EXPECT_EQ(packed("x", Values(1000, 0), Coding::kValues).planes, 0u);
  // Differences of 1 and −1: one plane, whatever the size of the values.
  EXPECT_EQ(packed("x", Values{1, 0, 1, 2}, Coding::kDifferences).planes, 1u);
}

TEST(Columns, RefuseWhatAPageCannotHoldExactly) {
  EXPECT_THROW(packed("x", Values{kMost + 1}, Coding::kValues), Unsupported);
  EXPECT_THROW(packed("x", Values{-kMost - 1}, Coding::kValues), Unsupported);
  EXPECT_THROW(packed("x", Values{kMost, -1}, Coding::kDifferences), Unsupported);
}

TEST(Base64, IsThatOfTheStandard) {
  // RFC 4648, section 10.
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe"), "//4=");
}

}  // namespace
}  // namespace slackline::report
