// A queue program written by hand: its text, picture and costs to the letter, and every rule that a
// program must keep, broken one at a time.
#include "offload/queue_program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "offload/costs.h"
#include "offload/queue_dot.h"
#include "offload/queue_names.h"
#include "offload/queue_text.h"
#include "tests/support/error_of.h"

namespace slackline::offload {
namespace {

// Two ranks; rank 0 sends and writes to rank 1, which enables its receives one by one.
const std::string kHead =
    "slackline queues 1\n"
    "schedule 00000000000000010000000000000002\n"
    "title \"by hand\"\n"
    "mode sq-wait\n"
    "ready window 2\n"
    "ranks 2\n"
    "buffer 0 rank 0 bytes 64\n"
    "buffer 1 rank 1 bytes 64\n"
    "cq 0 rank 0\n"
    "cq 1 rank 1 start 7\n"
    "cq 2 rank 0\n"
    "cq 3 rank 1\n";
const std::string kQueues =
    "queue 0 rank 0 send data pair 0 cq 0 peer 1 start 5\n"
    "  nop\n"
    "  send 0[0+16] 0[32+8] op 0 step 1 latest 2 signaled\n"
    "  write 0[16+8] to 1[40+8] op 2\n"
    "queue 1 rank 1 receive data pair 1 cq 1 peer 0 managed start 3\n"
    "  recv 1[0+24] op 1\n"
    "  recv op 3 step 4\n"
    "queue 2 rank 1 management order pair 2 cq 3 serves 1\n"
    "  wait 1 count 8\n"
    "  recv_enable 1 count 5\n"
    "queue 3 rank 0 management collect pair 3 cq 2\n"
    "  wait 0 count 1\n"
    "  send_enable 0 count 8\n"
    "  nop signaled\n";

std::string error_of(const std::string& text) {
  return testing::error_of([&] { read_queues(text, "f"); });
}

// What is wrong once the first `from` reads `to`.
std::string with(const std::string& from, const std::string& to) {
  std::string text = kHead + kQueues;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return error_of(text.replace(at, from.size(), to));
}

void expect_refused(const std::string& from, const std::string& to, const std::string& message) {
  EXPECT_EQ(with(from, to), "f: queue program: " + message) << to;
}

TEST(QueueProgram, IsWrittenToTheLetter) {
  const QueueProgram program = read_queues(kHead + kQueues, "f");
  std::string text = write_queues(program);
  const std::string digest = fmt::format("digest {}\n", to_string(program.digest()));
  ASSERT_EQ(text.find(digest), 19u);
  text.erase(19, digest.size());
  EXPECT_EQ(text, kHead + kQueues);

  EXPECT_EQ(program.title(), "by hand");
  EXPECT_EQ(program.mode(), Mode::kSqWait);
  EXPECT_EQ(program.readiness(), Readiness::kWindow);
  EXPECT_EQ(program.window(), 2u);
  EXPECT_EQ(program.schedule().high, 1u);
  EXPECT_EQ(program.schedule().low, 2u);
  const Queue& q = program.queue(QueueId(1));
  EXPECT_EQ(std::tuple(q.first, q.count), std::tuple(3u, 2u));
  EXPECT_EQ(program.bytes(program.entries()[1].local), 24u);
  EXPECT_EQ(describe(program, QueueId(3)), "queue 3 (collect management, rank 0)");
  EXPECT_EQ(describe(program, QueueId(2), 1),
            "entry 1 (recv_enable) of queue 2 (order management, rank 1)");
}

// Programs that were written before must be read with their digests for ever.
TEST(QueueProgram, DigestsStayAsTheyAre) {
  EXPECT_EQ(to_string(read_queues(kHead + kQueues, "f").digest()),
            "08e6abd157b74b262e051b464f3fdbb9");
}

// Every field but the title counts.
TEST(QueueProgram, DigestsDifferByEveryField) {
  const QueueProgram program = read_queues(kHead + kQueues, "f");
  const auto digest_with = [](const std::string& from, const std::string& to) {
    std::string text = kHead + kQueues;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return read_queues(text.replace(at, from.size(), to), "f").digest();
  };
  EXPECT_EQ(digest_with("by hand", "by foot"), program.digest());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"schedule 00", "schedule 10"},
           {"0002\ntitle", "0003\ntitle"},
           {"sq-wait", "mq-enable"},
           {"window 2", "handshake 2"},
           {"window 2", "window 3"},
           {"ranks 2", "ranks 3"},
           {"cq 3 rank 1\n", "cq 3 rank 1\nbuffer 2 rank 0 bytes 0\n"},
           {"rank 0 bytes 64", "rank 0 bytes 65"},
           {"cq 3 rank 1\n", "cq 3 rank 1\ncq 4 rank 0\n"},
           {"cq 0 rank 0\n", "cq 0 rank 0 start 1\n"},
           {"management order", "management credit"},
           {" managed", ""},
           {"collect pair 3 cq 2", "collect pair 3 cq 0"},
           {" serves 1", " serves 2"},
           {" start 5", " start 6"},
           {"  nop\n", ""},
           {"  nop\n", "  nop\n  nop\n"},
           {"  nop\n", "  nop signaled\n"},
           {"  nop\n", "  send\n"},
           {"send_enable 0 count 8", "send_enable 0 count 7"},
           {"0[32+8]", "0[33+8]"},
           {"0[32+8]", "0[32+7]"},
           {" 0[32+8]", ""},
           {" to 1[40+8]", ""},
           {"1[40+8]", "1[41+8]"},
           {" op 2", " op 1"},
           {"step 1", "step 2"},
           {"latest 2", "latest 1"},
       }) {
    EXPECT_NE(digest_with(from, to), program.digest()) << from << " → " << to;
  }
}

TEST(QueueProgram, IsDrawnToTheLetter) {
  const QueueProgram program = read_queues(kHead + kQueues, "f");
  EXPECT_EQ(write_dot(program), R"(digraph queues {
  rankdir=LR;
  node [shape=plain, fontname="monospace"];
  subgraph cluster_0 {
    label="rank 0";
    q0 [label=<<table border="0" cellborder="1" cellspacing="0"><tr><td bgcolor="lightgrey">queue 0: data send, cq 0</td></tr><tr><td port="e0">nop</td></tr><tr><td port="e1">send op 0, step 1</td></tr><tr><td port="e2">write op 2, step 0</td></tr></table>>];
    q3 [label=<<table border="0" cellborder="1" cellspacing="0"><tr><td bgcolor="lightgrey">queue 3: collect management, cq 2</td></tr><tr><td port="e0">wait cq 0 ≥ 1</td></tr><tr><td port="e1">send_enable queue 0 to 8</td></tr><tr><td port="e2">nop</td></tr></table>>];
  }
  subgraph cluster_1 {
    label="rank 1";
    q1 [label=<<table border="0" cellborder="1" cellspacing="0"><tr><td bgcolor="lightblue">queue 1: data receive, cq 1</td></tr><tr><td port="e0">recv op 1, step 0</td></tr><tr><td port="e1">recv op 3, step 4</td></tr></table>>];
    q2 [label=<<table border="0" cellborder="1" cellspacing="0"><tr><td bgcolor="lightgrey">queue 2: order management, cq 3</td></tr><tr><td port="e0">wait cq 1 ≥ 8</td></tr><tr><td port="e1">recv_enable queue 1 to 5</td></tr></table>>];
  }
  q0:e1 -> q1:e0;
  q0:e2 -> q1:e1;
  q1:e0 -> q2:e0 [style=dashed, color=blue];
  q2:e1 -> q1:e1 [style=dotted, color=red];
  q0:e1 -> q3:e0 [style=dashed, color=blue];
  q3:e1 -> q0:e2 [style=dotted, color=red];
}
)");
}

// A credit connection from rank 1 to rank 0 beside it, and a wait for a credit.
TEST(QueueProgram, CostsAreCounted) {
  std::string text = kHead + kQueues;
  text.insert(text.find("  send 0[0+16]"), "  wait 2 count 1\n");
  text.insert(text.find("queue 3"), "  send_enable 2 count 1\n");
  text +=
      "queue 4 rank 1 send credit pair 1 cq 3 peer 5 serves 1\n"
      "  wait 1 count 8\n"
      "  send\n"
      "  send\n"
      "queue 5 rank 0 receive credit pair 0 cq 2 peer 4 serves 0\n"
      "  recv\n"
      "  recv\n";
  const std::vector<RankCosts> costs = costs_of(read_queues(text, "f"));
  ASSERT_EQ(costs.size(), 2u);
  const auto figures = [](const RankCosts& c) {
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {}", c.sends, c.receives, c.waits,
                       c.enables, c.readiness_waits, c.grants, c.grant_entries, c.collector,
                       c.entries, c.management_depth, c.depth, c.pairs, c.cqs, c.doorbells);
  };
  EXPECT_EQ(figures(costs[0]), "2 0 0 0 1 0 0 3 9 0 4 2 2 3");
  EXPECT_EQ(figures(costs[1]), "0 2 1 1 0 2 3 0 8 3 3 2 2 2");
  EXPECT_EQ(figures(worst(costs)), "2 2 1 1 1 2 3 3 9 3 4 2 2 3");
}

TEST(QueueProgram, MemoryIsThereAndOfItsRank) {
  expect_refused("buffer 0 rank 0", "buffer 0 rank 2", "buffer 0 is of a rank that there is not");
  expect_refused("rank 0 bytes 64", "rank 0 bytes 4611686018427387905",
                 "buffer 0 is larger than 2^62 bytes");
  EXPECT_EQ(with("rank 0 bytes 64", "rank 0 bytes 4611686018427387904"), "");
  expect_refused("0[0+16]", "2[0+16]", "a piece is of a buffer that there is not");
  expect_refused("0[32+8]", "0[57+8]", "a piece of buffer 0 ends behind the buffer");
  expect_refused("0[32+8]", "0[65+0]", "a piece of buffer 0 ends behind the buffer");
  EXPECT_EQ(with("0[32+8]", "0[56+8]"), "");
  EXPECT_EQ(with("0[32+8]", "0[64+0]"), "");
  const std::string send = "entry 1 (send) of queue 0 (data send, rank 0) ";
  const std::string write = "entry 2 (write) of queue 0 (data send, rank 0) ";
  expect_refused("0[32+8]", "1[32+8]", send + "has a piece of another rank");
  expect_refused("0[32+8]", "0[32+8] to 1[0+24]", send + "has remote memory");
  expect_refused("1[40+8]", "0[40+8]", write + "has a piece of another rank");
  expect_refused("1[40+8]", "1[40+4] 1[48+4]", write + "writes several pieces; expected one");
  expect_refused("1[40+8]", "1[40+9]", write + "writes more or less than it reads");
  expect_refused("  nop\n", "  nop 0[0+8]\n",
                 "entry 0 (nop) of queue 0 (data send, rank 0) has memory; expected none");
  expect_refused("1[0+24]", "0[0+24]",
                 "entry 0 (recv) of queue 1 (data receive, rank 1) has a piece of another rank");
}

TEST(QueueProgram, QueuesAreWellConnected) {
  expect_refused("cq 0 rank 0", "cq 0 rank 2", "cq 0 is of a rank that there is not");
  expect_refused("cq 0 rank 0\n", "cq 0 rank 0 start 4611686018427387905\n",
                 "cq 0 starts above 2^62");
  expect_refused("queue 0 rank 0", "queue 0 rank 2", "queue 0 is of a rank that there is not");
  const std::string q0 = "queue 0 (data send, rank 0) ";
  const std::string q3 = "queue 3 (collect management, rank 0) ";
  expect_refused("pair 0 cq 0", "pair 0 cq 4", q0 + "has no completion queue of its rank");
  expect_refused("pair 0 cq 0", "pair 0 cq 1", q0 + "has no completion queue of its rank");
  expect_refused("start 5", "start 4611686018427387905", q0 + "starts above 2^62");
  expect_refused("pair 3 cq 2", "pair 3 cq 2 peer 1", q3 + "has a peer; expected none");
  const std::string peer =
      "has no peer; expected a queue of the other kind and another rank that names it, too";
  expect_refused(" peer 1", "", q0 + peer);
  expect_refused(" peer 1", " peer 4", q0 + peer);
  expect_refused(" peer 1", " peer 2", q0 + peer);
  expect_refused("1 receive data", "1 send data", q0 + peer);
  expect_refused("queue 1 rank 1 receive data pair 1 cq 1",
                 "queue 1 rank 0 receive data pair 1 cq 0", q0 + peer);
  const std::string q2 = "queue 2 (order management, rank 1) ";
  expect_refused("serves 1", "serves 4", q2 + "serves no queue of its rank");
  expect_refused("serves 1", "serves 0", q2 + "serves no queue of its rank");
  expect_refused("pair 3", "pair 4", q3 + "is of pair 4; expected less than the number of queues");
  expect_refused("pair 3", "pair 0", q3 + "is the second of its kind in its pair");
  expect_refused("pair 3", "pair 1", q3 + "is in a pair of another rank");
  EXPECT_EQ(with("pair 2", "pair 1"), "");
}

TEST(QueueProgram, EntriesFitTheirQueues) {
  const std::string wait = "entry 0 (wait) of queue 2 (order management, rank 1) ";
  const std::string recv_enable = "entry 1 (recv_enable) of queue 2 (order management, rank 1) ";
  const std::string send_enable = "entry 1 (send_enable) of queue 3 (collect management, rank 0) ";
  const std::string place = "does not fit; expected recv in a receive queue, and only there";
  expect_refused("  nop\n", "  recv\n", "entry 0 (recv) of queue 0 (data send, rank 0) " + place);
  expect_refused("  recv op 3", "  nop op 3",
                 "entry 1 (nop) of queue 1 (data receive, rank 1) " + place);
  expect_refused("  nop signaled", "  send signaled",
                 "entry 2 (send) of queue 3 (collect management, rank 0) is a message; expected "
                 "none in a management queue");
  expect_refused("wait 1 count 8", "wait 1 count 4611686018427387905", wait + "counts above 2^62");
  EXPECT_EQ(with("wait 1 count 8", "wait 1 count 4611686018427387904"), "");
  expect_refused("wait 1 count 8", "wait 4 count 8",
                 wait + "waits for no completion queue of its rank");
  expect_refused("wait 1 count 8", "wait 0 count 8",
                 wait + "waits for no completion queue of its rank");
  expect_refused("wait 1 count 8", "wait 1 count 6", wait + "waits for less than the start");
  EXPECT_EQ(with("wait 1 count 8", "wait 1 count 7"), "");
  expect_refused("recv_enable 1", "recv_enable 4", recv_enable + "enables no queue of its rank");
  expect_refused("recv_enable 1", "recv_enable 0", recv_enable + "enables no queue of its rank");
  expect_refused("recv_enable 1", "recv_enable 2",
                 recv_enable + "enables a queue of the other kind");
  expect_refused("recv_enable 1 count 5", "recv_enable 1 count 2",
                 recv_enable + "enables less than the start");
  EXPECT_EQ(with("recv_enable 1 count 5", "recv_enable 1 count 3"), "");
  expect_refused("send_enable 0 count 8", "send_enable 0 count 4",
                 send_enable + "enables less than the start");
  expect_refused("  recv op 3 step 4", "  recv op 3 step 4 signaled",
                 "entry 1 (recv) of queue 1 (data receive, rank 1) is signaled, which a receive "
                 "always is; expected recv");
  // What no text says.
  for (const bool target : {true, false}) {
    QueueProgramBuilder builder(read_queues(kHead + kQueues, "f"));
    Entry& nop = builder.entries(QueueId(0))[0];
    target ? nop.target = 1 : nop.count = 1;
    try {
      builder.build();
      ADD_FAILURE();
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("has a target; expected one of waits and enables"),
                std::string::npos);
    }
  }
}

// What no text says: the reader asks for one rank, and puts each piece in its place.
TEST(QueueProgram, BuildersKeepWithinRanksAndPieces) {
  const auto refused = [](QueueProgramBuilder builder) -> std::string {
    return testing::error_of([&] { builder.build(); });
  };
  const std::string ranks =
      "queue program: the program has no rank or above 2^24; expected 1 … 2^24";
  EXPECT_EQ(refused(QueueProgramBuilder(0)), ranks);
  EXPECT_EQ(refused(QueueProgramBuilder(1)), "");
  EXPECT_EQ(refused(QueueProgramBuilder(1u << 24)), "");
  EXPECT_EQ(refused(QueueProgramBuilder((1u << 24) + 1)), ranks);

  const QueueProgram program = read_queues(kHead + kQueues, "f");
  const auto slices = static_cast<std::uint32_t>(program.slices().size());
  const auto with_local = [&](sched::SliceRange local) {
    QueueProgramBuilder builder(program);
    builder.entries(QueueId(1))[1].local = local;
    return refused(builder);
  };
  const std::string pieces =
      "queue program: entry 1 (recv) of queue 1 (data receive, rank 1) has pieces that there are "
      "not";
  EXPECT_EQ(with_local({slices, 0}), "");
  EXPECT_EQ(with_local({slices - 1, 1}), "");  // the write's target, of the same rank
  EXPECT_EQ(with_local({slices - 1, 2}), pieces);
  EXPECT_EQ(with_local({slices, 1}), pieces);
  EXPECT_EQ(with_local({slices + 1, 1}), pieces);
}

TEST(QueueProgram, TextIsReadLineByLine) {
  EXPECT_EQ(error_of(""), "f:0: the text ends; expected slackline");
  EXPECT_EQ(with("pair 0 cq 0 peer 1", "pair 0 cq 0 peer 1 peer 1"), "f:13: 'peer' is given twice");
  EXPECT_EQ(with("serves 1", "serves 1 serves 1"), "f:20: 'serves' is given twice");
  EXPECT_EQ(with("managed", "managed managed"), "f:17: 'managed' is given twice");
  EXPECT_EQ(with("start 5", "start 5 start 5"), "f:13: 'start' is given twice");
  EXPECT_EQ(with("start 5", "end 5"),
            "f:13: 'end' is not known; expected peer, serves, managed or start");
  EXPECT_EQ(with("op 0", "op 0 op 0"), "f:15: 'op' is given twice");
  EXPECT_EQ(with("step 1", "step 1 step 1"), "f:15: 'step' is given twice");
  EXPECT_EQ(with("latest 2", "latest 2 latest 2"), "f:15: 'latest' is given twice");
  EXPECT_EQ(with("signaled", "signaled signaled"), "f:15: 'signaled' is given twice");
  EXPECT_EQ(with("signaled", "signalled"),
            "f:15: 'signalled' is not known; expected op, step, latest or signaled");
  EXPECT_EQ(with("buffer 1", "buffer 2"), "f:8: number 2; expected 1");
  EXPECT_EQ(with("cq 1 rank", "cq 2 rank"), "f:10: number 2; expected 1");
  EXPECT_EQ(with("queue 1 rank", "queue 2 rank"), "f:17: number 2; expected 1");
  EXPECT_EQ(with("0[0+16]", "0[0-16]"),
            "f:15: '0[0-16]' is no piece; expected buffer[offset+bytes]");
  EXPECT_EQ(with("0[0+16]", "0[0+16]]"),
            "f:15: '0[0+16]]' is no piece; expected buffer[offset+bytes]");
  EXPECT_EQ(with("0[0+16]", "4294967295[0+16]"),
            "f:15: '4294967295[0+16]' is no piece; expected buffer[offset+bytes]");
  EXPECT_EQ(with("queue 0 rank", "nop\nqueue 0 rank"),
            "f:13: an entry before any queue; expected queue");
  EXPECT_EQ(with("0001000", "000g000"),
            "f:2: '000000000000000g0000000000000002'; expected 32 hexadecimal digits");
  EXPECT_EQ(with("ranks 2", "ranks 2 2"), "f:6: '2' is out of place; expected the end of the line");
  EXPECT_EQ(with("ranks 2", "ranks 16777217"),
            "f:6: the number of ranks: '16777217' does not fit; expected a whole number from 0 to "
            "16777216");
}

// What is no name is none, the empty one too.
TEST(QueueNames, AreReadBack) {
  const auto expect_names = [](auto last, auto named) {
    using Name = decltype(last);
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      EXPECT_EQ(named(name(static_cast<Name>(i))), static_cast<Name>(i));
    }
    EXPECT_EQ(named(""), std::nullopt);
    EXPECT_EQ(named("no-such"), std::nullopt);
  };
  expect_names(Mode::kRdmcMq, mode_named);
  expect_names(Readiness::kWindow, readiness_named);
  expect_names(QueueKind::kManagement, queue_kind_named);
  expect_names(Purpose::kCollect, purpose_named);
  expect_names(EntryKind::kRecvEnable, entry_kind_named);
}

}  // namespace
}  // namespace slackline::offload
