#include "sched/export/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "sched/builder.h"
#include "sched/import/json.h"
#include "sched/text.h"
#include "tests/support/error_of.h"
#include "tests/unit/sched/random_schedule.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using testing::random_schedule;
using testing::small_chain;
using ::testing::StartsWith;

std::string error_of(const std::string& text) {
  return testing::error_of([&] { read_json(text, "x.json"); });
}

TEST(Json, RandomSchedulesComeBackTheSame) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const Schedule schedule = random_schedule(seed);
    const std::string text = write_json(schedule);
    const Schedule back = read_json(text);
    ASSERT_EQ(back.digest(), schedule.digest()) << text;
    ASSERT_EQ(write_json(back), text);
    ASSERT_EQ(write_text(back), write_text(schedule));
  }
}

TEST(Json, ATitleThatIsNotUtf8IsMadeSo) {
  ScheduleBuilder b(1);
  b.set_title("\xff\xfe");
  const Schedule schedule = b.build();
  const std::string text = write_json(schedule);
  const Schedule back = read_json(text);
  EXPECT_EQ(back.digest(), schedule.digest());
  EXPECT_EQ(write_json(back), text);
}

TEST(Json, DefaultsMayBeLeftOut) {
  const Schedule schedule = read_json(R"({"schema": 1, "ranks": 2,
                    "buffers": [{"rank": 0, "bytes": 8}, {"rank": 1, "bytes": 8}],
                    "channels": [{"src": 0, "dst": 1}],
                    "ops": [{"rank": 0, "kind": "send", "channel": 0,
                             "reads": [{"buffer": 0, "offset": 0, "bytes": 8}]},
                            {"rank": 1, "kind": "recv", "channel": 0, "unknown": [1, 2],
                             "writes": [{"buffer": 1, "offset": 0, "bytes": 8}]}]})");
  EXPECT_EQ(schedule.op(OpId(0)).match, OpId(1));
  EXPECT_EQ(schedule.channel(ChannelId(0)).bundle_delay, kForever);
}

TEST(Json, ErrorsNameThePlaceAndWhatWasExpected) {
  const std::string head = R"({"schema": 1, "ranks": 2, "channels": [{"src": 0, "dst": 1}], )";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "x.json: not a JSON document: 'line 1, column 1'; expected one"},
      {"{\"schema\": 1,\n 1}", "x.json: not a JSON document: 'line 2, column 2'; expected one"},
      {"{\"schema\": 1e999}", "x.json: not a JSON document: a number is too large"},
      {"{\"schema\": 1, \"ops\": [{\"id\": 0}, {\"id\": 1, \"rank\": 0, \"id\": 1}]}",
       "x.json: a field 'id' stands twice in one object; expected it once"},
      {R"({"title": "", "t\u0069tle": ""})",
       "x.json: a field 'title' stands twice in one object; expected it once"},
      {std::string("8\0\" and what is behind it", 24),
       "x.json: not a JSON document: a byte is 0; expected one"},
      {"[]", "x.json: expected an object"},
      {"{}", "x.json: expected a field \"schema\""},
      {R"({"schema": 2})", "x.json: schema: file of version 2; this program reads up to 1"},
      {R"({"schema": 1})", "x.json: expected a field \"ranks\""},
      {R"({"schema": 1, "ranks": 0})", "x.json: ranks: expected at least one rank"},
      {R"({"schema": 1, "ranks": 1e9})", "x.json: ranks: expected a whole number from 0"},
      {R"({"schema": 1, "ranks": -1})", "x.json: ranks: expected a whole number from 0"},
      {head + R"("ops": 5})", "x.json: ops: expected an array"},
      {R"({"schema": 1, "ranks": 2, "buffers": [{"id": 1, "rank": 0, "bytes": 8}]})",
       "x.json: buffers[0].id: entries are numbered in order; expected 0"},
      {R"({"schema": 1, "ranks": 2, "buffers": [{"id": 0, "rank": 0, "bytes": 8},)"
       R"( {"id": 0, "rank": 0, "bytes": 8}]})",
       "x.json: buffers[1].id: entries are numbered in order; expected 1"},
      {head + R"("ops": [5]})", "x.json: ops[0]: expected an object"},
      {head + R"("ops": [{"rank": 0, "kind": "jump"}]})",
       "x.json: ops[0].kind: 'jump' is not a name that stands here"},
      {head + R"("ops": [{"rank": 0, "kind": "send", "channel": 0, "reads": [{"buffer": 0}]}]})",
       "x.json: ops[0].reads[0]: expected a field \"offset\""},
      {head + R"("ops": [{"rank": 1, "kind": "join"}, {"rank": 0, "kind": "join"}]})",
       "x.json: ops[1].rank: expected operations grouped by ascending rank"},
      {head + R"("ops": [{"rank": 0, "kind": "join", "id": 4}]})",
       "x.json: ops[0].id: entries are numbered in order; expected 0"},
      {head + R"("ops": [{"rank": 0, "kind": "recv", "channel": 0}]})",
       "x.json: op 0 (recv) of rank 0 is on channel 0, whose destination is rank 1"},
      {head + R"("ops": [{"rank": 0, "kind": "send", "channel": 0, "match": 1}]})",
       "x.json: ops[0]: match: 1 is given, but nothing matches it"},
      {head + R"("digest": "00"})", "x.json: digest: the contents have digest"},
  };
  for (const auto& [text, expected] : cases) EXPECT_THAT(error_of(text), StartsWith(expected));
}

void try_damaged(const std::string& text) {
  try {
    const Schedule schedule = read_json(text);
    const std::string written = write_json(schedule);
    ASSERT_EQ(write_json(read_json(written)), written);
  } catch (const InputError&) {
  }
}

TEST(Json, EveryPrefixIsRefused) {
  const std::string text = write_json(small_chain());
  for (std::size_t n = 0; n + 2 < text.size(); ++n) {
    EXPECT_NE(error_of(text.substr(0, n)), "") << n;
  }
}

TEST(Json, EveryChangedByteReadsOrIsRefused) {
  std::string text = write_json(random_schedule(7, 6));
  text.replace(text.find("\"digest\""), 8, "\"diggst\"");
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char kept = text[i];
    for (const char c : {'\0', '9', '-', '"', '[', '}', '\xff', static_cast<char>(kept ^ 1)}) {
      text[i] = c;
      try_damaged(text);
    }
    text[i] = kept;
  }
}

}  // namespace
}  // namespace slackline::sched
