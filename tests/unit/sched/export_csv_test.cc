#include <gtest/gtest.h>

#include <sstream>

#include "sched/compile.h"
#include "sched/export/csv.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

// The Plan as the table must show it.
std::string table_of(const Plan& plan) {
  std::ostringstream out;
  out << "step,src,dst,offset,bytes,block\n";
  for (const Transfer& t : plan.transfers) {
    out << t.step << ',' << t.src.value << ',' << t.dst.value << ',' << plan.block_offset(t.block)
        << ',' << plan.bytes_of(t.block) << ',' << t.block << '\n';
  }
  return out.str();
}

TEST(ExportCsv, IsThePlan) {
  for (const char* pattern : {"chain", "sequential", "binomial-pipeline", "circulant"}) {
    for (const char* rest : {"", ",first-block=copy", ",lower=put", ",ready=write", ",ready=none",
                             ",root=3,first-block=copy,lower=put"}) {
      const std::string text = std::string(pattern) + ":ranks=5,bytes=4500,block=1000" + rest;
      const Spec spec = parse_spec(text);
      EXPECT_EQ(write_csv(compile(spec)), table_of(plan_of(spec))) << text;
    }
  }
}

TEST(ExportCsv, FollowsAFirstBlockThatIsCopied) {
  EXPECT_EQ(write_csv(testing::put_with_copy()),
            "step,src,dst,offset,bytes,block\n0,0,1,4096,4096,1\n1,0,1,0,4096,0\n");
}

TEST(ExportCsv, AnEmptyMessageHasARow) {
  const Schedule schedule = compile(parse_spec("chain:ranks=2,bytes=0,block=1"));
  EXPECT_EQ(write_csv(schedule), "step,src,dst,offset,bytes,block\n0,0,1,0,0,0\n");
}

}  // namespace
}  // namespace slackline::sched
