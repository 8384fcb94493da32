// What a spec of a data structure may say, and what it is told otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sched/compile.h"
#include "sched/text.h"
#include "sched/workloads/structures/structure_workload.h"
#include "tests/support/error_of.h"
#include "tests/support/structure_case.h"

namespace slackline::sched {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& spec) {
  return testing::error_of([&] { compile(parse_spec(spec)); });
}

TEST(StructureSpec, IsWrittenAsItIsRead) {
  for (const std::string& spec : testing::structure_specs()) {
    const std::string text = format_spec(parse_spec(spec));
    EXPECT_EQ(format_spec(parse_spec(text)), text);
    EXPECT_EQ(compile(parse_spec(text)).digest(), compile(parse_spec(spec)).digest()) << spec;
    EXPECT_LE(compile(parse_spec(spec)).op_count(), most_ops(parse_spec(spec))) << spec;
  }
  EXPECT_EQ(format_spec(parse_spec("queue:compute=2us,queues=one,ranks=4,via=am,seed=7,op=push")),
            "queue:ranks=4,op=push,via=am,seed=7,queues=one,compute=2us");
  EXPECT_EQ(format_spec(parse_spec("hash-table:load=0.25,ranks=4,slots=9,in-flight=3")),
            "hash-table:ranks=4,in-flight=3,slots=9,load=0.25");
  EXPECT_EQ(format_spec(parse_spec(
                "queue:claim=swap,targets=any,sizes=drawn,entry=1KiB,ranks=4,slots=9,seed=2")),
            "queue:ranks=4,slots=9,entry=1KiB,sizes=drawn,targets=any,seed=2,claim=swap");
  EXPECT_EQ(format_spec(parse_spec("hash-table:ranks=4,entry=8,sizes=fixed,targets=others")),
            "hash-table:ranks=4");
}

TEST(StructureSpec, RefusesHandlersThatTakeLongerThanATime) {
  const std::string spec =
      "queue:ranks=4,op=push,via=am,progress=thread,handler=5000000s,contention=";
  EXPECT_EQ(error_of(spec + "4223372s"), "");
  EXPECT_EQ(error_of(spec + "4223373s"),
            "contention: 106 days or more with handler; expected less");
}

TEST(StructureSpec, SurvivesItsText) {
  for (const std::string& spec : testing::structure_specs()) {
    const Schedule schedule = compile(parse_spec(spec));
    EXPECT_EQ(read_text(write_text(schedule), "test").digest(), schedule.digest()) << spec;
  }
}

TEST(StructureSpec, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"hash-table:ranks=4,load=1.5", "load: '1.5'; expected a load factor above 0 and at most 1"},
      {"hash-table:ranks=4,load=0", "load: '0'"},
      {"hash-table:ranks=4,load=half", "load: 'half'"},
      {"hash-table:ranks=4,operations=0", "operations"},
      {"hash-table:ranks=4,operations=50,slots=10", "part of the table gets"},
      {"hash-table:ranks=2,operations=11,clients=1,slots=10",
       "slots: 10; rank 0's part of the table gets 11 keys, a load factor of 1.10; expected at "
       "least "
       "11"},
      {"queue:ranks=2,operations=11,clients=1,slots=10",
       "slots: 10; rank 0's queue gets 11 elements; expected at least 11"},
      {"queue:ranks=4,operations=9,phases=1,slots=3,queues=one,clients=3", ""},
      {"queue:ranks=4,operations=9,phases=1,slots=2,queues=one", "expected at least 3"},
      {"hash-table:ranks=1", "ranks: 1; expected at least 2"},
      {"queue:ranks=1,level=cl", ""},
      {"hash-table:ranks=4,level=cl", "level: 'cl'; expected crw, cw or cr"},
      {"hash-table:ranks=4,level=cw,op=find",
       "level: 'cw'; expected crw or cr: a find is no write"},
      {"hash-table:ranks=4,level=cr,op=insert",
       "level: 'cr'; expected crw or cw: an insert is no read"},
      {"hash-table:ranks=4,level=cr", "expected crw or cw"},
      {"hash-table:ranks=4,level=cw,phases=1",
       "rank 3's insert (operation 0) may overlap a find of another rank, which cw forbids; "
       "expected "
       "phases=2 or level=crw"},
      {"queue:ranks=4,level=cr,op=push", "expected crw or cw: a push is no read"},
      {"queue:ranks=4,level=cw,phases=1", "push"},
      {"hash-table:ranks=4,via=am,level=cw", "expected crw: handlers run one after another"},
      {"hash-table:ranks=4,phases=1,in-flight=2", "in-flight: 2 with phases=1"},
      {"hash-table:ranks=4,in-flight=0", "in-flight: 0"},
      {"queue:ranks=4,queues=one,clients=4", "of which rank 0 serves; expected at most 3"},
      {"queue:ranks=4,queues=one,level=cl", "queues: one with level=cl"},
      {"queue:ranks=4,op=insert", "op: 'insert'; expected push or pop or both"},
      {"hash-table:ranks=4,op=push", "op: 'push'; expected insert or find or both"},
      {"queue:ranks=4,load=0.5", "load: not an option of queue"},
      {"queue:ranks=4,via=send", "via: 'send'; expected rdma or am"},
      {"call:ranks=4,bytes=8,via=am", "via: 'am'; expected write or send"},
      {"queue:ranks=4,phases=3", "phases"},
      {"queue:ranks=4,bytes=8", "bytes: not an option of queue"},
      {"binomial-pipeline:ranks=4,bytes=8,level=cw", "level: not an option of binomial-pipeline"},
      {"hash-table:ranks=4096,operations=2000000000", "operations"},
      {"hash-table:ranks=4,entry=12",
       "entry: 12; expected a multiple of 8 bytes from 8 to 1048576"},
      {"queue:ranks=4,entry=0", "entry: 0; expected a multiple of 8"},
      {"queue:ranks=4,entry=1MiB", ""},
      {"queue:ranks=4,entry=1048584", "entry: 1048584; expected"},
      {"queue:ranks=4,sizes=drawn", "sizes: drawn with entry=8; expected entries of several words"},
      {"queue:ranks=4,sizes=drawn,entry=16,level=checksum",
       "sizes: drawn with level=checksum; expected fixed"},
      {"queue:ranks=4,level=cl,targets=any", "targets: any with level=cl; expected others"},
      {"queue:ranks=4,queues=one,targets=any",
       "targets: any with queues=one; expected others: rank 0 only serves"},
      {"queue:ranks=4,via=am,claim=swap", "claim: no fetch_add, with via=am; expected add"},
      {"queue:ranks=4,level=cl,claim=read-swap", "claim: no fetch_add, with level=cl"},
      {"hash-table:ranks=4,claim=swap", "claim: not an option of hash-table"},
      {"hash-table:ranks=1,targets=any", ""},
  };
  for (const auto& [spec, expected] : cases)
    EXPECT_THAT(error_of(spec), HasSubstr(expected)) << spec;
}

TEST(StructureWorkload, TargetsOtherRanksAndKeysAreDistinct) {
  const Spec spec = parse_spec("hash-table:ranks=7,operations=200,op=insert,seed=9");
  const StructureWorkload workload = table_workload(spec);
  ASSERT_EQ(workload.ops.size(), 1400u);
  std::set<std::uint32_t> keys;
  std::vector<int> at(7, 0);
  for (const StructureOp& op : workload.ops) {
    EXPECT_NE(op.target, op.rank);
    EXPECT_TRUE(keys.insert(key_of(op.entry())).second);
    EXPECT_LT(op.slot, workload.slots);
    EXPECT_NE(op.entry(), 0u);
    ++at[op.target.value];
  }
  for (const int count : at) EXPECT_NEAR(count, 200, 60);
  // Half of the fullest part.
  EXPECT_EQ(workload.slots, 2u * static_cast<unsigned>(*std::max_element(at.begin(), at.end())));
}

// Of 4 ranks' targets about a quarter are their own, and sizes are anything in words.
TEST(StructureWorkload, DrawsOwnTargetsAndSizesWhereAskedTo) {
  for (const char* pattern : {"hash-table", "queue"}) {
    const bool table = std::string_view(pattern) == "hash-table";
    const Spec spec = parse_spec(std::string(pattern) + ":ranks=4,operations=250,op=" +
                                 (table ? "insert" : "push") + ",entry=40,sizes=drawn,targets=any");
    const StructureWorkload workload = table ? table_workload(spec) : queue_workload(spec);
    int own = 0;
    std::vector<int> of_words(6, 0);
    for (const StructureOp& op : workload.ops) {
      own += op.is_own() ? 1 : 0;
      ASSERT_EQ(op.bytes % 8, 0u);
      ASSERT_TRUE(op.bytes >= 8 && op.bytes <= 40);
      ++of_words[op.bytes / 8];
    }
    EXPECT_NEAR(own, 250, 60);
    for (int words = 1; words <= 5; ++words) EXPECT_NEAR(of_words[words], 200, 60);
  }
}

TEST(StructureWorkload, TheSeedAloneDecides) {
  const auto digest = [](const std::string& text) { return compile(parse_spec(text)).digest(); };
  EXPECT_EQ(digest("queue:ranks=5,operations=20,seed=1"),
            digest("queue:ranks=5,operations=20,seed=1"));
  EXPECT_NE(digest("queue:ranks=5,operations=20,seed=1"),
            digest("queue:ranks=5,operations=20,seed=2"));
  EXPECT_NE(digest("hash-table:ranks=5,operations=20,seed=1"),
            digest("hash-table:ranks=5,operations=20,seed=2"));
}

}  // namespace
}  // namespace slackline::sched
