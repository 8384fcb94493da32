// What is free, as the system's files say it, and what is refused for want of memory.
#include "base/memory_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/error.h"
#include "sched/builder.h"
#include "sched/compile.h"
#include "sched/text.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"
#include "tests/support/in_child.h"
#include "tests/support/temp_folder.h"

namespace slackline::sched {
namespace {

using slackline::testing::ending_of_child;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class FreeMemory : public ::testing::Test {
 protected:
  FreeMemory() { write("proc/meminfo", "MemTotal: 100 kB\nMemAvailable:    8388608 kB\n"); }
  void write(const std::string& path, const std::string& text) { root_.write(path, text); }
  std::uint64_t free_mib() const { return free_memory(root_.path("")).value_or(0) / kMiB; }

  const slackline::testing::TempFolder root_;
};

TEST_F(FreeMemory, IsWhatTheMachineHas) { EXPECT_EQ(free_mib(), 8192u); }

TEST_F(FreeMemory, IsWhatTheControlGroupsAboveLeave) {
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/memory.max", "1073741824\n");
  write("sys/fs/cgroup/a/memory.current", "536870912\n");
  EXPECT_EQ(free_mib(), 512u);
  write("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file 268435456\n");
  EXPECT_EQ(free_mib(), 768u);
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/b/memory.current", "1\n");
  EXPECT_EQ(free_mib(), 768u);
  write("sys/fs/cgroup/memory.max", "104857600\n");
  write("sys/fs/cgroup/memory.current", "209715200\n");
  EXPECT_EQ(free_mib(), 0u);
}

TEST_F(FreeMemory, IsWhatAnOlderControlGroupLeaves) {
  write("proc/self/cgroup", "9:cpu,cpuacct:/x\n7:memory:/docker/1\n");
  write("sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "1073741824");
  write("sys/fs/cgroup/memory/docker/1/memory.usage_in_bytes", "209715200");
  write("sys/fs/cgroup/memory/docker/1/memory.stat", "total_inactive_file 104857600\n");
  EXPECT_EQ(free_mib(), 924u);
}

TEST_F(FreeMemory, AddressesAreWhatTheirLimitLeaves) {
  write(
      "proc/self/statm",
      std::to_string(kMiB * 100 / static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE))) + " 1 1\n");
  EXPECT_EQ(ending_of_child([&] {
              const rlimit limit{kMiB * 300, kMiB * 300};
              if (::setrlimit(RLIMIT_AS, &limit) != 0) ::_exit(2);
              ::_exit(free_addresses(root_.path().string() + "/") == kMiB * 200 ? 0 : 1);
            }),
            0);
}

std::string refusal(const std::function<void()>& body) {
  return testing::error_of<EnvironmentError>(body);
}

TEST(MemoryLimit, SaysWhatIsNeededAndWhatThereIs) {
  const MemoryLimit limit = MemoryLimit::of(300 * kMiB);
  EXPECT_EQ(refusal([&] { limit.require(300 * kMiB, "the work", "less"); }), "");
  EXPECT_EQ(refusal([&] { limit.require(3 * 1024 * kMiB, "the work", "less"); }),
            "the work takes about 3 GiB of memory, and --memory allows 300 MiB; expected less");
  EXPECT_EQ(refusal([&] { limit.require(200 * kMiB, "the work", "less", 101 * kMiB); }),
            "the work takes about 301 MiB of memory, and --memory allows 300 MiB; expected less");
  // No machine has that.
  EXPECT_THAT(refusal([] { MemoryLimit().require(~std::uint64_t{0}, "it", "less"); }),
              HasSubstr(" are free; expected less"));
  EXPECT_EQ(refusal([] { MemoryLimit().require(kMiB, "it", "less"); }), "");
}

TEST(MemoryLimit, IsAskedBeforeASpecIsCompiled) {
  for (const char* spec :
       {"chain:ranks=2,bytes=500MB,block=1", "chain:ranks=2,bytes=1,messages=100000000",
        "chain:ranks=16777216,bytes=64", "ring-buffer:ranks=2,bytes=1,messages=100000000",
        "call-return:ranks=3,bytes=20,messages=10000000"}) {
    EXPECT_THAT(refusal([&] { compile(parse_spec(spec), MemoryLimit::of(1024 * kMiB)); }),
                HasSubstr("--memory allows 1 GiB"))
        << spec;
  }
  EXPECT_EQ(refusal([] { compile(parse_spec("chain:ranks=4,bytes=64"), MemoryLimit::of(kMiB)); }),
            "");
}

// Copies whose slices all begin at places of their own and overlap.
Schedule overlapping_copies(std::uint32_t copies) {
  ScheduleBuilder builder(1);
  builder.add_buffer(RankId(0), 4 * copies);
  for (std::uint32_t i = 0; i < copies; ++i) {
    Op op;
    op.kind = OpKind::kCopy;
    op.rank = RankId(0);
    op.reads = builder.add_slice({BufferId(0), i, copies});
    op.writes = builder.add_slice({BufferId(0), 2 * copies + i, copies});
    const OpId id = builder.add(op);
    if (i > 0) builder.add_edge(OpId(i - 1), id, On::kDone);
  }
  builder.add_pre({{BufferId(0), 0, 4 * copies}, ValueId(0), 0});
  return builder.build();
}

TEST(MemoryLimit, IsAskedBeforeOverlappingCopiesAreProved) {
  const Schedule schedule = overlapping_copies(200);
  VerifyOptions options;
  EXPECT_FALSE(has_errors(verify(schedule, options)));
  options.memory = MemoryLimit::of(100 * 1024);
  EXPECT_THAT(refusal([&] { verify(schedule, options); }),
              StartsWith("the proof: 400 slices that overlap in 801 pieces of memory"));
  options.join_from = 1000;
  options.memory = MemoryLimit::of(kMiB);
  EXPECT_THAT(refusal([&] { verify(schedule, options); }),
              StartsWith("the proof: 80000 pairs of an operation and a piece of memory"));
}

// 32 million pairs of a copy and a piece of memory: 768 MiB, if each were kept.
TEST(MemoryLimit, LetsManyOverlappingCopiesBeProvedInLittle) {
  VerifyOptions options;
  options.memory = MemoryLimit::of(8 * kMiB);
  EXPECT_FALSE(has_errors(verify(overlapping_copies(4000), options)));
}

// Each message takes the pieces of all the copies before it along, until all receives are posted.
TEST(MemoryLimit, IsAskedWhileMessagesUnderWayComeToHoldMuch) {
  constexpr std::uint32_t kMessages = 600;
  std::string text =
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 600\n"
      "buffer 1 rank 1 bytes 600\nchannel 0 from 0 to 1\nrank 0\n";
  std::string facts;
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    text += "  " + std::to_string(i) + " send on 0 reads 0[0+600]\n";
    facts += "pre 0[" + std::to_string(i) + "+1] value " + std::to_string(i) + "\n";
  }
  text += "rank 1\n";
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    text += "  " + std::to_string(kMessages + i) + " recv on 0 writes 1[0+600]" +
            (i > 0 ? " after done:" + std::to_string(kMessages + i - 1) : "") + "\n";
  }
  const Schedule schedule = read_text(text + facts, "messages");
  VerifyOptions options;
  options.memory = MemoryLimit::of(2 * kMiB);
  EXPECT_THAT(refusal([&] { verify(schedule, options); }), HasSubstr("messages under way"));
}

}  // namespace
}  // namespace slackline::sched
