// The same specification makes the same schedule, to the last edge: the digests of a few hundred
// small ones, of every pattern and with every option, against tests/golden/digests.txt. After a
// change that is meant, SLACKLINE_REGENERATE_GOLDEN=1 writes the file anew; look at which lines
// differ before committing it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

#include "sched/compile.h"
#include "sched/file.h"
#include "sched/pattern/pattern.h"
#include "sched/text.h"
#include "tests/support/source_dir.h"

namespace slackline::sched {
namespace {

TEST(GoldenDigests, SchedulesAreWhatTheyWere) {
  const std::string path = slackline::testing::source_dir() + "/tests/golden/digests.txt";
  std::istringstream lines(read_file(path));
  std::string written;
  std::set<std::string> seen;
  for (std::string digest, spec; lines >> digest >> spec;) {
    const std::string made = to_string(compile(parse_spec(spec)).digest());
    EXPECT_EQ(made, digest) << spec;
    EXPECT_TRUE(seen.insert(spec).second) << spec << " twice";
    written += made + " " + spec + "\n";
  }
  EXPECT_GT(seen.size(), 300u);
  if (std::getenv("SLACKLINE_REGENERATE_GOLDEN") != nullptr) write_file_aside(path, written);
}

}  // namespace
}  // namespace slackline::sched
