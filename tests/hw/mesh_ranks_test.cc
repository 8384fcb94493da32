// A process of a test that ends as it should not fails the test.
#include "tests/hw/mesh_ranks.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

namespace slackline {
namespace {

using testing::MeshRanks;

void end_after(const std::function<void()>& body) {
  MeshRanks ranks;
  ranks.start(ranks.options(0, 1), [&](const hw::MeshOptions&, const MeshRanks::Say&) { body(); });
  EXPECT_EQ(ranks.next(0), "(end)");
  ranks.end();
}

TEST(MeshRanks, AStatusOfASanitizerFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(end_after([] { _exit(66); }), "process 0 ended with 66");
}

TEST(MeshRanks, ASignalFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(end_after([] {
                            signal(SIGTERM, SIG_DFL);
                            raise(SIGTERM);
                          }),
                          "process 0 ended by Terminated");
}

TEST(MeshRanks, AnEndAndAKillAreAsTheyShouldBe) {
  end_after([] {});
  end_after([] { raise(SIGKILL); });
}

}  // namespace
}  // namespace slackline
