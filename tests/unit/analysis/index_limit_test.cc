#include "analysis/index_limit.h"

#include <gtest/gtest.h>

namespace slackline::analysis {
namespace {

TEST(IndexLimit, IsTheLastNumberThatIsNoMark) {
  EXPECT_NO_THROW(require_indexable(0, "constraints"));
  EXPECT_NO_THROW(require_indexable(0xfffffffeu, "constraints"));
  for (const std::uint64_t entries : {std::uint64_t{0xffffffffu}, std::uint64_t{1} << 40}) {
    EXPECT_THROW(require_indexable(entries, "constraints"), Unsupported) << entries;
  }
}

}  // namespace
}  // namespace slackline::analysis
