#include "sched/export/goal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "sched/builder.h"
#include "sched/event_graph.h"
#include "sched/import/goal.h"
#include "sched/text.h"
#include "sched/verify.h"
#include "tests/support/error_of.h"
#include "tests/support/goal_peer.h"
#include "tests/unit/sched/random_schedule.h"
#include "tests/unit/sched/sample_schedules.h"

namespace slackline::sched {
namespace {

using ::testing::HasSubstr;
using testing::small_chain;
using ::testing::StartsWith;

template <class Error>
std::string error_of(const std::string& text) {
  return testing::error_of<Error>([&] { read_goal(text, "x.goal"); });
}

constexpr const char* kPingPong = R"(// a comment
num_ranks 2
/* another,
   longer */
rank 0 {
  s: send 100b to 1 tag 7
  c: calc 5 cpu 2
  r: recv 50b from 1 cpu 1 nic 0
  c requires s
  r irequires c
}

rank 1 {
  get: recv 100b from 0 tag 7
  calc: calc 12
  put: send 50b to 0
  calc requires get
  put requires calc
}
)";

TEST(Goal, ReadsAProgram) {
  const Schedule s = read_goal(kPingPong, "x.goal");
  ASSERT_EQ(s.rank_count(), 2u);
  ASSERT_EQ(s.op_count(), 6u);
  EXPECT_EQ(s.op(OpId(0)).kind, OpKind::kSend);
  EXPECT_EQ(s.op(OpId(0)).match, OpId(3));
  EXPECT_EQ(s.op(OpId(5)).match, OpId(2));
  EXPECT_EQ(s.arguments(s.op(OpId(1))).duration, Time{5'000});
  EXPECT_EQ(s.op(OpId(1)).lane, 2);
  EXPECT_EQ(s.op(OpId(2)).lane, 1);
  EXPECT_EQ(s.channels().size(), 2u);
  ASSERT_EQ(s.edges().size(), 4u);
  EXPECT_EQ(s.edges()[0], (Edge{OpId(0), OpId(1), On::kDone}));
  EXPECT_EQ(s.edges()[1], (Edge{OpId(1), OpId(2), On::kIssued}));
  EXPECT_EQ(s.contract().pre.size(), 2u);
  EXPECT_TRUE(s.contract().post.empty());
}

// Their reader takes what it expects next, whether or not blanks and line ends stand between.
TEST(Goal, ReadsTokensAsNarrowlySetAsLogGopsimDoes) {
  const std::string narrow =
      "num_ranks 2rank 0{a:send100bto1tag7cpu1nic0\nb:calc5\nb requiresa\n}rank 1 {recv 100 b from "
      "0 tag7\nc:calc 1\nd: calc2cpu 3\nd irequiresc\n}";
  EXPECT_NO_THROW(slackline::testing::GoalPeerReader::read(narrow));
  const std::string wide =
      "num_ranks 2\nrank 0 {\na: send 100b to 1 tag 7 cpu 1 nic 0\nb: calc 5\nb requires a\n}\n"
      "rank 1 {\nrecv 100b from 0 tag 7\nc: calc 1\nd: calc 2 cpu 3\nd irequires c\n}\n";
  EXPECT_EQ(read_goal(narrow).digest(), read_goal(wide).digest());
}

TEST(Goal, StatementsFollowTheirDependenciesAndElseTheirOrder) {
  // `a` waits for `b`, so on their channel b's message is the first.
  const Schedule s = read_goal(
      "num_ranks 2\nrank 0 {\na: send 1b to 1\nb: send 2b to 1\na requires b\n}\n"
      "rank 1 {\nrecv 2b from 0\nrecv 1b from 0\n}\n");
  EXPECT_EQ(s.payload_bytes(s.op(OpId(0))), 2u);
  EXPECT_EQ(s.edges()[0], (Edge{OpId(0), OpId(1), On::kDone}));
}

TEST(Goal, RefusesWhatIsNoProgram) {
  const std::string two = "num_ranks 2\nrank 0 {\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "x.goal:1: the text ends too early; expected 'num_ranks'"},
      {"num_ranks 0", "x.goal:1: num_ranks: 0 is out of range"},
      {"num_ranks 1\n", "x.goal:2: rank 0 is missing; expected ranks 0 to 0"},
      {"num_ranks 2\nrank 1 {\n}\n", "x.goal:2: ranks are given in order; expected rank 0"},
      {"num_ranks 1\nrank 0 {\n}\nrank 1 {\n}\n", "x.goal:4: rank '1' is one too many"},
      {two + "}\nrank 0 {\n}\n", "x.goal:4: ranks are given in order; expected rank 1"},
      {two + "a: calc 1\na: calc 1\n", "x.goal:4: label 'a' stands on line 3 already"},
      {two + "a: calc 1\na requires b\nb: calc 1\n", "x.goal:4: label 'b' is not known"},
      {two + "a: calc 1\n}\nrank 1 {\na requires a\n}\n", "x.goal:6: label 'a' is not known"},
      {two + "a: jump 1\n", "x.goal:3: 'jump' is out of place; expected send, recv, calc"},
      {two + "send 10 to 1\n", "x.goal:3: 'to' is out of place; expected 'b'"},
      {two + "send b to 1\n",
       "x.goal:3: 'b' is out of place; expected send: a whole number from 0 to "
       "9223372036854775807"},
      {two + "send 10b to 2\n", "x.goal:3: '2' is out of place; expected rank: a whole number"},
      {two + "send 10b from 1\n", "x.goal:3: 'from' is out of place; expected 'to'"},
      {two + "send 10b to 1 cpu 0 tag 1\n",
       "x.goal:3: 'tag' is out of place; expected the end of the line"},
      {two + "calc 99999999999999999999\n", "x.goal:3: '99999999999999999999' is out of place"},
      {two + "calc 1 calc 2\n", "x.goal:3: 'calc' is out of place; expected the end of the line"},
      {two + "/* open", "x.goal:3: a comment has no end; expected '*/'"},
      {two + "calc", "x.goal:3: the text ends too early; expected calc: a whole number"},
      {two + "1a: calc 1\n",
       "x.goal:3: '1a' is out of place; expected send, recv, calc or a label"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(error_of<InputError>(text), StartsWith(expected)) << text;
  }
  EXPECT_THAT(error_of<Unsupported>(two + "recv 1b from -1\n"),
              StartsWith("x.goal:3: a message of any rank (-1) is not supported"));
  EXPECT_THAT(error_of<Unsupported>(two + "send 1b to 1 tag -1\n"),
              StartsWith("x.goal:3: a message of any tag (-1) is not supported"));
}

TEST(Goal, ARankHasOneNicEachWay) {
  const std::string two = "num_ranks 2\nrank 0 {\nsend 1b to 1 nic 3\n";
  const std::string other = "}\nrank 1 {\nrecv 1b from 0 nic 1\nsend 1b to 0\n";
  const std::string one_each = two + "recv 1b from 1 nic 1\n" + other + "}\n";
  EXPECT_EQ(read_goal(one_each).op_count(), 4u);
  const std::string several =
      two + "a: send 1b to 1 nic 2\nrecv 1b from 1\n" + other + "recv 1b from 0 nic 1\n}\n";
  EXPECT_EQ(
      error_of<Unsupported>(several),
      "x.goal:4: 'a' is on NIC 2, and the send on line 3 on NIC 3; a rank has one NIC here: "
      "expected one for all that it sends, --nics N, with which they are the rails of a platform, "
      "or --one-nic, with which all of its NICs are one");
  GoalOptions options;
  options.one_nic = true;
  EXPECT_EQ(read_goal(several, "x.goal", options).op_count(), 6u);
}

TEST(Goal, EagerMessagesAreOnChannelsOfTheirOwn) {
  const std::string text =
      "num_ranks 2\nrank 0 {\nsend 10b to 1\nsend 20b to 1\nsend 10b to 1 tag 1\nsend 0b to 1\n}\n"
      "rank 1 {\nrecv 10b from 0\nrecv 20b from 0\nrecv 0b from 0\nrecv 10b from 0 tag 1\n}\n";
  EXPECT_EQ(read_goal(text).channels().size(), 2u);
  GoalOptions options;
  options.eager_bytes = 10;
  const Schedule s = read_goal(text, "x.goal", options);
  ASSERT_EQ(s.channels().size(), 3u);
  for (const Op& op : s.ops()) {
    const std::uint64_t bytes = s.payload_bytes(op.kind == OpKind::kRecv ? s.op(op.match) : op);
    EXPECT_EQ(s.channel(op.channel).service, bytes <= 10 ? Service::kEager : Service::kReliable);
  }
  EXPECT_FALSE(has_errors(verify(s)));
  EXPECT_EQ(read_text(write_text(s)).digest(), s.digest());
  EXPECT_NE(read_goal(text).digest(), s.digest());
}

// Ranks whose statements each require the one before, in an order of their own.
std::string random_program(std::mt19937& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
  const std::uint32_t ranks = 2 + below(3);
  std::vector<std::vector<std::string>> of_rank(ranks);
  const std::uint32_t messages = 2 + below(5);
  for (std::uint32_t m = 0; m < messages; ++m) {
    const std::uint32_t from = below(ranks);
    const std::uint32_t to = (from + 1 + below(ranks - 1)) % ranks;
    const std::uint32_t bytes = 1 + below(9);
    const auto add = [&](std::uint32_t rank, const std::string& statement) {
      std::vector<std::string>& all = of_rank[rank];
      all.insert(all.begin() + below(all.size() + 1), statement);
    };
    add(from, fmt::format("send {}b to {} tag {}", bytes, to, m));
    add(to, fmt::format("recv {}b from {} tag {}", bytes, from, m));
  }
  std::string text = fmt::format("num_ranks {}\n", ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    text += fmt::format("rank {} {{\n", r);
    for (std::size_t i = 0; i < of_rank[r].size(); ++i) {
      text += fmt::format("l{}: {}\n", i, of_rank[r][i]);
      if (i != 0) text += fmt::format("l{} requires l{}\n", i, i - 1);
    }
    text += "}\n";
  }
  return text;
}

TEST(Goal, ADeadlockNamesTheLeastSizeThatLetsItThrough) {
  std::mt19937 random(7);
  int deadlocks = 0;
  int ways_out = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_program(random);
    std::string error;
    try {
      read_goal(text);
      continue;
    } catch (const InputError& refused) {
      error = refused.what();
    }
    ++deadlocks;
    GoalOptions options;
    std::uint64_t least = 0;
    for (; least <= 9; ++least) {
      options.eager_bytes = least;
      try {
        EXPECT_FALSE(has_errors(verify(read_goal(text, "x.goal", options)))) << text;
        break;
      } catch (const InputError&) {
        continue;
      }
    }
    if (least > 9) {
      EXPECT_THAT(error, ::testing::EndsWith("expected an order in which all can end")) << text;
      continue;
    }
    ++ways_out;
    EXPECT_THAT(error, HasSubstr(fmt::format(", or --eager {}, with", least))) << text;
  }
  EXPECT_GT(ways_out, 100);
  EXPECT_GT(deadlocks - ways_out, 20);
}

TEST(Goal, SizesMeetInTheirOrderWhateverIsEager) {
  const std::string text =
      "num_ranks 2\nrank 0 {\nsend 10b to 1\nsend 90b to 1\n}\n"
      "rank 1 {\nrecv 90b from 0\nrecv 10b from 0\n}\n";
  for (const std::optional<std::uint64_t> eager : {std::optional<std::uint64_t>(), {10}, {90}}) {
    EXPECT_EQ(testing::error_of([&] {
                read_goal(text, "x.goal", {eager, false});
              }),
              "x.goal:3: the send on line 3 of rank 0 sends 10 bytes, but the recv on line 7 "
              "of rank 1 (line 7) receives 90; expected equal sizes");
  }
}

TEST(Goal, RefusesProgramsThatCannotEnd) {
  EXPECT_EQ(error_of<InputError>("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\n"
                                 "b requires a\na requires c\nc irequires b\n}\n"),
            "x.goal:3: dependency cycle in rank 0: 'a' requires 'c' requires 'b' requires 'a'; "
            "expected none");
  EXPECT_EQ(error_of<InputError>("num_ranks 1\nrank 0 {\na: calc 1\na requires a\n}\n"),
            "x.goal:3: dependency cycle in rank 0: 'a' requires 'a'; expected none");
  const std::string crossed =
      "num_ranks 2\nrank 0 {\nr0: recv 1b from 1\ns0: send 1b to 1\ns0 requires r0\n}\n"
      "rank 1 {\nr1: recv 1b from 0\ns1: send 1b to 0\ns1 requires r1\n}\n";
  EXPECT_THAT(error_of<InputError>(crossed), HasSubstr("deadlock: "));
  for (const char* label :
       {"'r0' of rank 0", "'s0' of rank 0", "'r1' of rank 1", "'s1' of rank 1"}) {
    EXPECT_THAT(error_of<InputError>(crossed), HasSubstr(label));
  }
}

TEST(Goal, RefusesMessagesWithoutTheirOtherHalf) {
  EXPECT_EQ(error_of<InputError>("num_ranks 2\nrank 0 {\na: send 1b to 1 tag 3\n}\nrank 1 {\n}\n"),
            "x.goal:3: 'a' of rank 0 to rank 1 with tag 3 has no matching recv; expected one in "
            "rank 1");
  EXPECT_EQ(error_of<InputError>("num_ranks 2\nrank 0 {\n}\nrank 1 {\nrecv 1b from 0\n}\n"),
            "x.goal:5: the recv on line 5 of rank 1 from rank 0 with tag 0 has no matching send; "
            "expected one in rank 0");
  EXPECT_EQ(error_of<InputError>("num_ranks 2\nrank 0 {\na: send 1b to 1\n}\n"
                                 "rank 1 {\nb: recv 2b from 0\n}\n"),
            "x.goal:3: 'a' of rank 0 sends 1 bytes, but 'b' of rank 1 (line 6) receives 2; "
            "expected equal sizes");
}

TEST(Goal, WhatIsWrittenReadsBackWithTheSameShape) {
  const Schedule schedule = small_chain();
  const Schedule back = read_goal(write_goal(schedule));
  ASSERT_EQ(back.op_count(), schedule.op_count());
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    const Op& a = schedule.ops()[i];
    const Op& b = back.ops()[i];
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.rank, b.rank);
    EXPECT_EQ(a.match, b.match);
    EXPECT_EQ(schedule.payload_bytes(a), back.payload_bytes(b));
  }
  // Every edge is there; what a channel keeps in order is now kept by edges.
  for (const Edge& edge : schedule.edges()) {
    EXPECT_NE(std::find(back.edges().begin(), back.edges().end(), edge), back.edges().end());
  }
  const ChannelOrder order = channel_order(schedule);
  for (std::uint32_t i = 0; i < schedule.op_count(); ++i) {
    if (!order.previous[i].valid() || schedule.ops()[i].kind == OpKind::kRecv) continue;
    const auto edges = back.edges_into(OpId(i));
    EXPECT_TRUE(std::any_of(edges.begin(), edges.end(),
                            [&](const Edge& e) { return e.pred == order.previous[i]; }));
  }
  EXPECT_EQ(write_goal(read_goal(write_goal(schedule))), write_goal(back));
}

TEST(Goal, RandomProgramsAreSoundOrRefused) {
  // Write what can be written of random schedules, and read it back.
  int written = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Schedule schedule = testing::random_schedule(seed, 8);
    std::string text;
    try {
      text = write_goal(schedule);
    } catch (const Unsupported& error) {
      EXPECT_THAT(error.what(), HasSubstr("op "));
      continue;
    }
    ++written;
    try {
      EXPECT_EQ(read_goal(text).op_count(), schedule.op_count());
    } catch (const InputError& error) {
      // A cycle in the schedule is a deadlock of the program.
      EXPECT_FALSE(find_cycle(schedule).empty()) << error.what() << text;
    }
  }
  EXPECT_GT(written, 100);
}

TEST(Goal, RefusesOperationsWithoutACounterpart) {
  ScheduleBuilder b(2);
  b.add_buffer(RankId(0), 8);
  b.add_buffer(RankId(1), 8);
  Channel c;
  c.src = RankId(0);
  c.dst = RankId(1);
  Op op;
  op.kind = OpKind::kGet;
  op.rank = RankId(0);
  op.channel = b.add_channel(c);
  op.reads = b.add_slice({BufferId(1), 0, 8});
  op.writes = b.add_slice({BufferId(0), 0, 8});
  b.add(op);
  const Schedule schedule = b.build();
  EXPECT_EQ(testing::error_of<Unsupported>([&] { write_goal(schedule); }),
            "goal: op 0 (get, rank 0) has no counterpart in GOAL");
}

TEST(Goal, EveryPrefixAndEveryChangedByteReadsOrIsRefused) {
  const auto attempt = [](const std::string& text) {
    try {
      const Schedule s = read_goal(text);
      ASSERT_EQ(write_text(read_text(write_text(s))), write_text(s));
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2);
    }
  };
  std::string text = kPingPong;
  for (std::size_t n = 0; n <= text.size(); ++n) attempt(text.substr(0, n));
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char kept = text[i];
    for (int c = 0; c < 256; ++c) {
      text[i] = static_cast<char>(c);
      attempt(text);
    }
    text[i] = kept;
  }
}

}  // namespace
}  // namespace slackline::sched
