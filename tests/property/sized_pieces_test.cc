// alltoallv, scatterv and gatherv: proved for sizes of every kind, with what each rank sends by
// hand.
#include "sched/pattern/sized_pieces.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sched/compile.h"
#include "sched/verify.h"
#include "tests/property/random_runs.h"
#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"

namespace slackline::testing {
namespace {

using namespace slackline::sched;  // NOLINT: tests speak of little else
using ::testing::HasSubstr;

using Matrix = std::vector<std::vector<std::uint64_t>>;

std::string text_of(const Matrix& sizes) {
  std::string text = "# of each rank for each rank\n\n";
  for (const auto& row : sizes) {
    for (const std::uint64_t bytes : row) text += fmt::format("{} ", bytes);
    text += "\n";
  }
  return text;
}

Matrix random_sizes(Dice& dice, std::uint32_t rows, std::uint32_t columns) {
  Matrix sizes(rows, std::vector<std::uint64_t>(columns));
  for (auto& row : sizes) {
    for (std::uint64_t& bytes : row) bytes = dice.one_in(3) ? 0 : dice.below(30);
  }
  return sizes;
}

// The bytes of all messages from each rank to each.
std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> traffic(const Schedule& schedule) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> bytes;
  for (const Op& op : schedule.ops()) {
    if (op.kind != OpKind::kSend || schedule.payload_bytes(op) == 0) continue;
    const Channel& channel = schedule.channel(op.channel);
    bytes[{channel.src.value, channel.dst.value}] += schedule.payload_bytes(op);
  }
  return bytes;
}

TEST(SizedPieces, AreExchangedByAllWithAll) {
  const TempFolder folder;
  for (std::uint32_t n = 1; n <= 20; ++n) {
    Dice dice(n);
    const Matrix sizes = random_sizes(dice, n, n);
    const std::string file = folder.write("file", text_of(sizes));
    for (const char* how : {"", ",in-flight=0,ready=none", ",ready=write,window=3,messages=2",
                            ",block=7,start=all,window=2"}) {
      const Spec spec = parse_spec(fmt::format("alltoallv:ranks={},sizes={}{}", n, file, how));
      const Schedule schedule = compile(spec);
      const Diagnostics found = verify(schedule);
      ASSERT_TRUE(found.empty()) << schedule.title() << ": " << found.front().message;
      EXPECT_EQ(format_spec(parse_spec(schedule.title())), schedule.title());
      EXPECT_GE(most_ops(spec), schedule.op_count());
      auto sent = traffic(schedule);
      for (std::uint32_t r = 0; r < n; ++r) {
        for (std::uint32_t s = 0; s < n; ++s) {
          if (r == s) continue;
          ASSERT_EQ((sent[{r, s}]), sizes[r][s] * spec.messages) << schedule.title();
        }
      }
    }
  }
}

TEST(SizedPieces, GoFromTheRootAndToIt) {
  const TempFolder folder;
  for (std::uint32_t n = 1; n <= 20; ++n) {
    Dice dice(100 + n);
    const Matrix sizes = random_sizes(dice, 1, n);
    const std::string file = folder.write("file", text_of(sizes));
    for (const bool to_root : {false, true}) {
      for (const std::uint32_t root : {0u, n / 2, n - 1}) {
        const Schedule schedule =
            compile(parse_spec(fmt::format("{}:ranks={},sizes={},block=7,root={}",
                                           to_root ? "gatherv" : "scatterv", n, file, root)));
        const Diagnostics found = verify(schedule);
        ASSERT_TRUE(found.empty()) << schedule.title() << ": " << found.front().message;
        auto sent = traffic(schedule);
        for (std::uint32_t r = 0; r < n; ++r) {
          if (r == root) continue;
          const std::uint64_t bytes = to_root ? sent[{r, root}] : sent[{root, r}];
          ASSERT_EQ(bytes, sizes[0][r]) << schedule.title();
        }
      }
    }
  }
}

TEST(SizedPieces, AreProvedForEveryNumberOfRanks) {
  const TempFolder folder;
  for (std::uint32_t n = 21; n <= 70; ++n) {
    Dice dice(200 + n);
    const std::string all = folder.write("all", text_of(random_sizes(dice, n, n)));
    const std::string one = folder.write("one", text_of(random_sizes(dice, 1, n)));
    for (const std::string& text :
         {fmt::format("alltoallv:ranks={},sizes={},block=7", n, all),
          fmt::format("scatterv:ranks={},sizes={},block=7,root={}", n, one, n - 1),
          fmt::format("gatherv:ranks={},sizes={},block=7,root={}", n, one, n / 2)}) {
      const Diagnostics found = verify(compile(parse_spec(text)));
      ASSERT_TRUE(found.empty()) << text << ": " << found.front().message;
    }
  }
}

// Three ranks, in steps as pairwise alltoall has them: rank 1 sends rank 2 its second piece first.
TEST(SizedPieces, StandOneBehindTheOther) {
  const TempFolder folder;
  const std::string file = folder.write("file", "1, 2, 3\n4 5 6\n7 0 9\n");
  const Schedule schedule =
      compile(parse_spec(fmt::format("alltoallv:ranks=3,sizes={},ready=none,in-flight=0", file)));
  EXPECT_EQ(schedule.step_count(), 2u);
  // What it sends, and what comes: 4 + 5 + 6, and 2 + 5 + 0.
  EXPECT_EQ(schedule.buffers()[1].bytes, 22u);
  EXPECT_EQ(schedule.message_bytes(), 18u);  // to rank 2: 3 + 6 + 9
}

TEST(SizedPieces, MayAllBeOfOneSize) {
  for (const char* text : {"alltoallv:ranks=3,sizes=5", "scatterv:ranks=4,sizes=1KiB,root=2",
                           "gatherv:ranks=4,sizes=0"}) {
    const Schedule schedule = compile(parse_spec(text));
    EXPECT_EQ(schedule.title(), text);
    EXPECT_TRUE(verify(schedule).empty()) << text;
  }
  EXPECT_EQ(compile(parse_spec("gatherv:ranks=4,sizes=3")).message_bytes(), 12u);
}

TEST(SizedPieces, SayWhatIsWrongInOneLine) {
  const TempFolder folder;
  const auto spec_error = [](const std::string& text) {
    return error_of([&] { compile(parse_spec(text)); });
  };
  const std::string file = folder.write("file", "1 2\n3 4\n");
  EXPECT_EQ(spec_error("alltoallv:ranks=3,sizes=" + file),
            fmt::format("sizes: {}:1: 2 sizes; expected 3, one for each rank", file));
  EXPECT_EQ(spec_error("scatterv:ranks=5,sizes=" + file),
            fmt::format("sizes: {}: 4 sizes; expected 5", file));
  EXPECT_EQ(spec_error("gatherv:ranks=3,sizes=" + file),
            fmt::format("sizes: {}:2: one size more; expected 3", file));
  EXPECT_THAT(spec_error("alltoallv:ranks=2,sizes=/nothing/here"), HasSubstr("sizes: /nothing"));
  const std::string words = folder.write("words", "1 2\n3 many\n");
  EXPECT_THAT(spec_error("alltoallv:ranks=2,sizes=" + words), HasSubstr(":2: "));
  const std::string huge = folder.write("huge", "4611686018427387904 1\n1 1\n");
  EXPECT_THAT(spec_error("alltoallv:ranks=2,block=4611686018427387904,sizes=" + huge),
              HasSubstr("2^62 bytes at a rank"));
  EXPECT_THAT(spec_error("alltoallv:ranks=16777216,sizes=0"), HasSubstr("operations"));
}

}  // namespace
}  // namespace slackline::testing
