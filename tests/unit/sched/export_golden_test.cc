// Exports of small schedules, byte for byte, against tests/golden. After a change that is meant,
// SLACKLINE_REGENERATE_GOLDEN=1 writes the files anew; look at the difference before committing it.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/read_file.h"
#include "base/write_file.h"
#include "sched/export/exporter.h"
#include "sched/file.h"
#include "tests/support/source_dir.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

struct Golden {
  const char* file;
  Schedule (*make)();
  const char* format;
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.file; }

class GoldenFile : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenFile, IsWhatIsWritten) {
  const std::string path = slackline::testing::source_dir() + "/tests/golden/" + GetParam().file;
  const std::string written = find_exporter(GetParam().format)->write(GetParam().make());
  if (std::getenv("SLACKLINE_REGENERATE_GOLDEN") != nullptr) write_file(path, written);
  EXPECT_EQ(read_file(path), written);
}

INSTANTIATE_TEST_SUITE_P(
    Export, GoldenFile,
    ::testing::Values(Golden{"chain.sched", testing::small_chain, "text"},
                      Golden{"chain.dot", testing::small_chain, "dot"},
                      Golden{"chain.goal", testing::small_chain, "goal"},
                      Golden{"chain.bin", testing::small_chain, "goal-bin"},
                      Golden{"chain.xml", testing::small_chain, "msccl-xml"},
                      Golden{"put_with_copy.sched", testing::put_with_copy, "text"},
                      Golden{"put_with_copy.dot", testing::put_with_copy, "dot"},
                      Golden{"put_with_copy.goal", testing::put_with_copy, "goal"},
                      Golden{"reduce.sched", testing::small_reduce, "text"},
                      Golden{"reduce.dot", testing::small_reduce, "dot"},
                      Golden{"reduce.goal", testing::small_reduce, "goal"},
                      Golden{"reduce.xml", testing::small_reduce, "msccl-xml"},
                      Golden{"queue_push.sched", testing::queue_push, "text"},
                      Golden{"queue_push.json", testing::queue_push, "json"}));

TEST(GoldenFiles, SchedulesReadBackTheSame) {
  const std::string folder = slackline::testing::source_dir() + "/tests/golden/";
  EXPECT_EQ(load_schedule(folder + "chain.sched").digest(), testing::small_chain().digest());
  EXPECT_EQ(load_schedule(folder + "queue_push.sched").digest(), testing::queue_push().digest());
  EXPECT_EQ(load_schedule(folder + "queue_push.json").digest(), testing::queue_push().digest());
  EXPECT_EQ(load_schedule(folder + "chain.goal").op_count(), testing::small_chain().op_count());
  EXPECT_EQ(load_schedule(folder + "chain.bin").digest(),
            load_schedule(folder + "chain.goal").digest());
}

}  // namespace
}  // namespace slackline::sched
