// The same specification makes the same schedule, to the last edge: the digests of a few hundred
// small ones, of every pattern and with every option, against tests/golden/digests.txt. After a
// change that is meant, SLACKLINE_REGENERATE_GOLDEN=1 writes the files anew; look at which lines
// differ before committing them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/read_file.h"
#include "base/write_file.h"
#include "sched/compile.h"
#include "sched/digest.h"
#include "sched/pass/unroll.h"
#include "tests/support/source_dir.h"

namespace slackline::sched {
namespace {

// Holds each line of a file, "digest spec", to what `make` answers for the spec.
template <class Make>
std::size_t expect_lines(const std::string& file, Make&& make) {
  const std::string path = slackline::testing::source_dir() + "/tests/golden/" + file;
  std::istringstream lines(read_file(path));
  std::string written;
  std::set<std::string> seen;
  for (std::string digest, spec; lines >> digest >> spec;) {
    const std::string made = make(spec);
    EXPECT_EQ(made, digest) << spec;
    EXPECT_TRUE(seen.insert(spec).second) << spec << " twice";
    written += made + " " + spec + "\n";
  }
  if (std::getenv("SLACKLINE_REGENERATE_GOLDEN") != nullptr) write_file(path, written);
  return seen.size();
}

TEST(GoldenDigests, SchedulesAreWhatTheyWere) {
  EXPECT_GT(expect_lines("digests.txt",
                         [](const std::string& spec) {
                           return to_string(compile(parse_spec(spec)).digest());
                         }),
            300u);
}

// Of dynamic ones, with every decision drawn, and each operation's origin.
TEST(GoldenDigests, UnrolledSchedulesAreWhatTheyWere) {
  EXPECT_GT(expect_lines("unrolled.txt",
                         [](const std::string& spec) -> std::string {
                           const Schedule schedule = compile(parse_spec(spec));
                           std::mt19937 random(5);
                           const auto decide = [&](std::uint32_t) { return random() % 2 == 0; };
                           DigestWriter out;
                           try {
                             const Unrolled unrolled = unroll(schedule, decide);
                             out.add_text(to_string(unrolled.schedule.digest()));
                             for (const OpId op : unrolled.origin) out.add_u32(op.value);
                           } catch (const InputError& error) {
                             out.add_text(error.what());
                           }
                           return to_string(out.finish());
                         }),
            30u);
}

}  // namespace
}  // namespace slackline::sched
