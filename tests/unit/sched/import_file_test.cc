#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/read_file.h"
#include "base/write_file.h"
#include "sched/export/goal.h"
#include "sched/export/goal_binary.h"
#include "sched/export/json.h"
#include "sched/file.h"
#include "sched/text.h"
#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using slackline::testing::error_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  const slackline::testing::TempFolder folder_;
};

TEST_F(Files, WhatIsWrittenIsRead) {
  const std::string bytes("a\0b\r\n\xff", 6);
  write_file(path("x"), bytes);
  EXPECT_EQ(read_file(path("x")), bytes);
  write_file(path("x"), "");
  EXPECT_EQ(read_file(path("x")), "");
  const std::string large(5'000'000, 'x');
  write_file(path("x"), large);
  EXPECT_EQ(read_file(path("x")), large);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, LongNamesAndPlacesThatAreNoFiles) {
  const std::string name(255, 'n');
  write_file(path(name), "x");
  EXPECT_EQ(read_file(path(name)), "x");
  write_file("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, FailuresNameThePathAndLeaveNothing) {
  EXPECT_EQ(error_of([&] { read_file(path("none")); }),
            path("none") + ": cannot open: No such file or directory; expected a readable file");
  EXPECT_THAT(error_of([&] { read_file(folder_.path().string()); }), HasSubstr("Is a directory"));
  EXPECT_THAT(error_of([&] { write_file(folder_.path().string(), "x"); }),
              HasSubstr("Is a directory"));
  EXPECT_EQ(error_of([&] { write_file(path("no/x"), "x"); }),
            path("no/x") +
                ": cannot write: No such file or directory; expected a place that can be written "
                "to");
  EXPECT_THAT(error_of([&] { write_file("", "x"); }), HasSubstr("cannot write"));
  EXPECT_THAT(error_of([&] { write_file("/dev/full", "x"); }),
              HasSubstr("No space left on device"));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(Files, SchedulesAreReadInWhateverFormTheyHave) {
  const Schedule schedule = testing::small_chain();
  write_file(path("a"), write_text(schedule));
  write_file(path("b"), "\n " + write_json(schedule));
  write_file(path("c"), "// GOAL\n/* */" + write_goal(schedule));
  EXPECT_EQ(load_schedule(path("a")).digest(), schedule.digest());
  EXPECT_EQ(load_schedule(path("b")).digest(), schedule.digest());
  EXPECT_EQ(load_schedule(path("c")).op_count(), schedule.op_count());
  write_file(path("h"), write_goal_binary(schedule));
  EXPECT_EQ(load_schedule(path("h")).digest(), load_schedule(path("c")).digest());
  for (const char* text : {"", "nonsense", "// only a comment", "/* open"}) {
    write_file(path("d"), text);
    EXPECT_EQ(
        error_of([&] { load_schedule(path("d")); }),
        path("d") +
            ": not a schedule; expected Slackline's text ('slackline schedule 1'), its JSON, "
            "GOAL as text ('num_ranks') or as txt2bin's bytes, MSCCL's XML ('<algo'), or Chakra's "
            "traces (NAME.RANK.et)");
  }
  write_file(path("e"), "slackline schedule 2");
  EXPECT_EQ(error_of([&] { load_schedule(path("e")); }),
            path("e") + ":1: file of version 2; this program reads up to 1");
  write_file(path("f"), "{\"schema\": 2}");
  EXPECT_THAT(error_of([&] { load_schedule(path("f")); }),
              StartsWith(path("f") + ": schema: file of version 2"));
  write_file(path("g"), "num_ranks 2");
  EXPECT_THAT(error_of([&] { load_schedule(path("g")); }), StartsWith(path("g") + ":1: rank 0"));
}

TEST_F(Files, AMarkBeforeTheTextIsPassedOver) {
  const Schedule schedule = testing::small_chain();
  const std::string mark = "\xef\xbb\xbf";
  for (const std::string& text :
       {write_text(schedule), write_json(schedule), write_goal(schedule)}) {
    write_file(path("plain"), text);
    write_file(path("marked"), mark + text);
    EXPECT_EQ(load_schedule(path("marked")).digest(), load_schedule(path("plain")).digest());
  }
  write_file(path("x"), mark + "bytes");
  EXPECT_EQ(read_file(path("x")), "bytes");
  for (const char* other : {"\xff\xfes", "\xfe\xffs"}) {
    write_file(path("x"), other);
    for (const std::string& error :
         {error_of([&] { read_file(path("x")); }), error_of([&] { load_schedule(path("x")); })}) {
      EXPECT_EQ(error, path("x") + ": it is UTF-16; expected UTF-8");
    }
  }
}

TEST_F(Files, ADeviceIsNoFile) {
  for (const char* device : {"/dev/zero", "/dev/urandom", "/dev/full"}) {
    EXPECT_EQ(error_of([&] { read_file(device); }),
              std::string(device) + ": it is a device; expected a file or a pipe");
    EXPECT_EQ(error_of([&] { load_schedule(device); }), error_of([&] { read_file(device); }));
  }
  EXPECT_EQ(read_file("/dev/null"), "");
}

// Files that take no room on the disk.
TEST_F(Files, NoMoreIsReadThanIsOfUse) {
  write_file(path("x"), "no schedule");
  fs::resize_file(path("x"), std::uintmax_t{3} << 30);
  EXPECT_THAT(error_of([&] { load_schedule(path("x"), MemoryLimit::of(1 << 20)); }),
              HasSubstr("not a schedule"));
  EXPECT_THAT(error_of([&] { read_file(path("x"), 1 << 20); }),
              HasSubstr("too long; expected at most 1 MiB"));
  for (const char* beginning : {"slackline schedule 1\n", " {", "num_ranks 2"}) {
    write_file(path("x"), beginning);
    fs::resize_file(path("x"), std::uintmax_t{3} << 30);
    EXPECT_THAT(testing::error_of<EnvironmentError>(
                    [&] { load_schedule(path("x"), MemoryLimit::of(std::uint64_t{4} << 30)); }),
                StartsWith(path("x") + ": reading it takes about "));
  }
}

TEST_F(Files, APipeIsReadAsFarAsMemoryGoes) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::thread writer(
      [&] { std::ofstream(path("pipe"), std::ios::binary) << std::string(3'000'000, 'x'); });
  EXPECT_EQ(read_file(path("pipe")).size(), 3'000'000u);
  writer.join();
}

}  // namespace
}  // namespace slackline::sched
