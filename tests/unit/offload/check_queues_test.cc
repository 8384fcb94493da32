// Three programs of one schedule written down by hand: as the compiler makes them, to the letter,
// and everything that the checks say of each once it is changed in one place.
#include "offload/check_queues.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "offload/compile_queues.h"
#include "offload/queue_text.h"
#include "tests/unit/offload/relay_programs.h"

namespace slackline::offload {
namespace {

using Texts = std::vector<std::string>;
using testing::edited;
using testing::Edits;
using testing::mq_enable;
using testing::rdmc_mq;
using testing::relay;
using testing::sq_wait;

// "code: message", in order.
Texts found_in(const std::string& text, const QueueCheckOptions& options = {}) {
  const MessageGraph graph(relay());
  Texts all;
  for (const auto& d : check_queues(read_queues(text, "f"), relay(), graph, options)) {
    all.push_back(fmt::format("{}: {}", name(d.code), d.message));
  }
  return all;
}

void expect_found(const std::string& text, const Edits& edits, const Texts& expected) {
  EXPECT_EQ(found_in(edited(text, edits)), expected)
      << (edits.empty() ? "" : edits.front().first + " → " + edits.front().second);
}

std::string compiled(Mode mode, Readiness readiness) {
  QueueOptions options;
  options.mode = mode;
  options.readiness = readiness;
  options.window = 1;
  std::string text = write_queues(compile_queues(relay(), options));
  const std::size_t digest = text.find("digest");
  return text.erase(digest, text.find("schedule", digest) - digest);
}

TEST(CheckQueues, HandWrittenProgramsAreTheCompilersAndSound) {
  EXPECT_EQ(compiled(Mode::kSqWait, Readiness::kHandshake), sq_wait());
  EXPECT_EQ(compiled(Mode::kMqEnable, Readiness::kWindow), mq_enable());
  EXPECT_EQ(compiled(Mode::kRdmcMq, Readiness::kNone), rdmc_mq());
  EXPECT_EQ(found_in(sq_wait()), Texts());
  EXPECT_EQ(found_in(mq_enable()), Texts());
  EXPECT_EQ(found_in(rdmc_mq()), Texts());
}

const std::string kSend1 = "entry 1 (send) of queue 0 (data send, rank 0) ";
const std::string kSend2 = "entry 2 (send) of queue 0 (data send, rank 0) ";
const std::string kRelay = "entry 2 (send) of queue 4 (data send, rank 1) ";
const std::string kUnmet =
    "schedule: the messages of queue 0 (data send, rank 0) do not meet the receives of queue 1 as "
    "the schedule matches them";

// What is not the schedule's is said first, and alone.
TEST(CheckQueues, TheProgramIsTheSchedules) {
  const std::string digest = to_string(relay().digest());
  expect_found(
      sq_wait(), {{digest, std::string(32, '0')}},
      {"schedule: the program is of schedule " + std::string(32, '0') + ", not of " + digest});
  const std::string buffers = "schedule: its ranks or buffers are not the schedule's";
  expect_found(sq_wait(), {{"ranks 3", "ranks 4"}}, {buffers});
  expect_found(sq_wait(), {{"buffer 2 rank 2 bytes 24", "buffer 2 rank 2 bytes 25"}}, {buffers});
  expect_found(sq_wait(), {{"buffer 3 rank 0", "buffer 3 rank 1"}}, {buffers});
  expect_found(sq_wait(), {{"buffer 3 rank 0 bytes 8\n", ""}}, {buffers});
  expect_found(
      sq_wait(),
      {{"buffer 3 rank 0 bytes 8\n", "buffer 3 rank 0 bytes 8\nbuffer 4 rank 0 bytes 8\n"}},
      {buffers});
}

TEST(CheckQueues, EntriesCarryOutTheirOperations) {
  const std::string lacks = "schedule: no entry carries out op 0 (send, rank 0)";
  const std::string only = "; expected an operation for data and for nothing else";
  expect_found(sq_wait(), {{"send 0[0+8] op 0", "send 0[0+8]"}},
               {"schedule: " + kSend1 + "has no operation" + only, kUnmet, lacks});
  expect_found(sq_wait(), {{"  send\n", "  send op 0\n"}},
               {"schedule: entry 0 (send) of queue 2 (ready send, rank 1) has an operation" + only,
                "schedule: the messages of queue 2 (ready send, rank 1) do not meet the receives "
                "of queue 3 as the schedule matches them"});
  expect_found(sq_wait(), {{"  send\n", "  send 1[0+8]\n"}},
               {"schedule: entry 0 (send) of queue 2 (ready send, rank 1) moves bytes that are no "
                "operation's"});
  expect_found(sq_wait(), {{"  recv\n", "  recv 0[0+8]\n"}},
               {"schedule: entry 0 (recv) of queue 3 (ready receive, rank 0) moves bytes that are "
                "no operation's"});
  expect_found(sq_wait(), {{"  wait 3 count 1\n", "  wait 3 count 1 op 0\n"}},
               {"schedule: entry 0 (wait) of queue 0 (data send, rank 0) has an operation" + only});
  expect_found(sq_wait(), {{"send 0[0+8] op 0", "send 0[0+8] op 6"}},
               {"schedule: " + kSend1 + "is of an operation that is no message", kUnmet, lacks});
  expect_found(
      sq_wait(), {{"send 0[0+8] op 0", "send 0[0+8] op 4"}},
      {"schedule: " + kSend1 + "does not do what op 4 (send, rank 1) does", kUnmet, lacks});
  expect_found(sq_wait(), {{"send 0[0+8] op 0", "write 0[0+8] to 1[0+8] op 0"}},
               {"schedule: entry 1 (write) of queue 0 (data send, rank 0) does not do what op 0 "
                "(send, rank 0) does",
                lacks});
  expect_found(sq_wait(), {{"send 0[0+8] op 0", "send 0[1+8] op 0"}},
               {"schedule: " + kSend1 + "has other memory than op 0 (send, rank 0)", lacks});
  expect_found(sq_wait(), {{"recv 1[8+8] op 3", "recv 1[8+7] op 3"}},
               {"schedule: entry 1 (recv) of queue 1 (data receive, rank 1) has other memory than "
                "op 3 (recv, rank 1)",
                "schedule: no entry carries out op 3 (recv, rank 1)"});
  expect_found(sq_wait(), {{"send 0[8+8] op 1", "send 0[0+8] op 0"}},
               {"schedule: " + kSend2 + "carries out op 0 (send, rank 0) a second time", kUnmet,
                "schedule: no entry carries out op 1 (send, rank 0)"});
  expect_found(sq_wait(), {{"  send 0[0+8] op 0\n", ""}}, {kUnmet, lacks});
}

TEST(CheckQueues, ACompletionQueueThatIsWaitedForHasOneProducer) {
  const std::string first =
      "producer: entry 0 (wait) of queue 9 (collect management, rank 0) waits for completion "
      "queue ";
  expect_found(sq_wait(), {{" latest 1 signaled", " latest 1"}},
               {first + "0, which 0 queues complete to; expected exactly one"});
  // Said once, of the first that waits.
  expect_found(sq_wait(),
               {{"pair 0 cq 3 peer 2", "pair 0 cq 0 peer 2"}, {"wait 3 count 1", "wait 0 count 1"}},
               {"producer: entry 0 (wait) of queue 0 (data send, rank 0) waits for completion "
                "queue 0, which 2 queues complete to; expected exactly one"});
}

TEST(CheckQueues, MessagesWaitForTheirReceiveAndForWhatTheyHold) {
  const auto early = [](const std::string& entry, const std::string& op) {
    return "ready: " + entry + "may send " + op + " before its receive is posted";
  };
  expect_found(sq_wait(), {{"  wait 3 count 1\n", ""}},
               {early("entry 0 (send) of queue 0 (data send, rank 0) ", "op 0 (send, rank 0)"),
                early(kSend1, "op 1 (send, rank 0)")});
  expect_found(sq_wait(), {{"  wait 7 count 1 step 1 latest 1\n", ""}},
               {early("entry 1 (send) of queue 4 (data send, rank 1) ", "op 4 (send, rank 1)")});
  expect_found(sq_wait(), {{"  wait 1 count 1 step 1 latest 1\n", ""}},
               {"hold: entry 1 (send) of queue 4 (data send, rank 1) may send op 4 (send, rank 1) "
                "before 1 completions of completion queue 1, without which rank 1 does not hold "
                "it"});
  // What it needs, and more.
  expect_found(sq_wait(), {{"wait 1 count 1", "wait 1 count 2"}},
               {"excess: " + kRelay +
                "stands behind a wait for 2 completions of completion queue 1, which it does not "
                "need"});
  // A queue of grants that serves another leaves the channel without readiness for ever.
  const Texts found = found_in(edited(sq_wait(), {{" serves 0", ""}}));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0], early(kSend1, "op 0 (send, rank 0)"));
  EXPECT_EQ(found[1], early(kSend2, "op 1 (send, rank 0)"));
  EXPECT_EQ(found[2], "excess: " + kSend1 +
                          "stands behind a wait for 1 completions of completion queue 3, which it "
                          "does not need");
}

// A wait holds back something, and what it holds back needs it; a nop needs nothing.
TEST(CheckQueues, AWaitBeforeANopIsTooMuch) {
  const std::string nop = "excess: entry 2 (nop) of queue 4 (data send, rank 1) stands behind a ";
  expect_found(sq_wait(), {{"  send 1[0+8] op 4", "  nop\n  send 1[0+8] op 4"}},
               {nop + "wait for 1 completions of completion queue 7, which it does not need",
                nop + "wait for 1 completions of completion queue 1, which it does not need"});
  expect_found(sq_wait(), {{"  wait 7 count 1", "  nop\n  wait 7 count 1"}}, {});
  expect_found(sq_wait(),
               {{"op 1 latest 1 signaled\n", "op 1 latest 1 signaled\n  wait 3 count 1\n"}},
               {"excess: queue 0 (data send, rank 0) ends with a wait that holds back nothing",
                "collect: the collector of rank 0 does not wait for the end of queue 0 (data send, "
                "rank 0)"});
  expect_found(sq_wait(), {{"  send\n", "  wait 1 count 1\n  send\n"}},
               {"deadlock: entry 0 (wait) of queue 0 (data send, rank 0) waits for ever: "
                "completion queue 3 comes to 0 of 1",
                "deadlock: entry 0 (wait) of queue 2 (ready send, rank 1) waits for ever: "
                "completion queue 1 comes to 0 of 1",
                "deadlock: entry 1 (wait) of queue 4 (data send, rank 1) waits for ever: "
                "completion queue 1 comes to 0 of 1",
                "deadlock: entry 0 (wait) of queue 8 (collect management, rank 1) waits for ever: "
                "completion queue 1 comes to 0 of 2",
                "deadlock: entry 0 (wait) of queue 9 (collect management, rank 0) waits for ever: "
                "completion queue 0 comes to 0 of 1",
                "deadlock: entry 0 (wait) of queue 10 (collect management, rank 2) waits for ever: "
                "completion queue 5 comes to 0 of 1",
                "excess: entry 1 (send) of queue 2 (ready send, rank 1) stands behind a wait for 1 "
                "completions of completion queue 1, which it does not need"});
}

TEST(CheckQueues, MessagesGoInTheirTurn) {
  expect_found(sq_wait(),
               {{"  send 0[0+8] op 0\n  send 0[8+8] op 1 latest 1 signaled\n",
                 "  send 0[8+8] op 1 latest 1\n  send 0[0+8] op 0 signaled\n"},
                {"  recv 1[0+8] op 2\n  recv 1[8+8] op 3 latest 1\n",
                 "  recv 1[8+8] op 3 latest 1\n  recv 1[0+8] op 2\n"}},
               {"hold: " + kRelay +
                    "may send op 4 (send, rank 1) before 2 completions of completion queue 1, "
                    "without which rank 1 does not hold it",
                "order: " + kSend2 + "is out of its turn among the messages of rank 0",
                "excess: " + kRelay +
                    "stands behind a wait for 1 completions of completion queue 1, which it does "
                    "not need"});
}

TEST(CheckQueues, TheHostIsToldOnceBehindEverything) {
  const auto told = [](int rank, int times, int waits, int expected) {
    return fmt::format(
        "collect: the host of rank {} is told {} times, behind {} waits; expected once, behind {}",
        rank, times, waits, expected);
  };
  const std::string relayed =
      "collect: the collector of rank 1 does not wait for the end of queue 4 (data send, rank 1)";
  const std::string root =
      "collect: the collector of rank 0 does not wait for the end of queue 0 (data send, rank 0)";
  expect_found(sq_wait(), {{"  wait 4 count 1\n", ""}}, {relayed, told(1, 1, 1, 2)});
  expect_found(sq_wait(), {{"  wait 4 count 1\n", "  wait 1 count 2\n"}}, {relayed});
  expect_found(sq_wait(), {{"  wait 4 count 1\n", "  wait 4 count 1\n  wait 7 count 1\n"}},
               {told(1, 1, 3, 2)});
  expect_found(sq_wait(), {{"  wait 0 count 1\n  nop signaled\n", "  wait 0 count 1\n"}},
               {"excess: queue 9 (collect management, rank 0) ends with a wait that holds back "
                "nothing",
                root, told(0, 0, 0, 1)});
  expect_found(sq_wait(), {{"  wait 0 count 1\n  nop signaled\n", "  wait 0 count 1\n  nop\n"}},
               {root, told(0, 0, 0, 1)});
  // Told twice: what counts is what the last stands behind.
  expect_found(sq_wait(),
               {{"  wait 0 count 1\n  nop signaled\n",
                 "  wait 0 count 1\n  nop signaled\n  nop signaled\n"}},
               {root, told(0, 2, 0, 1)});
  // The last message of the queue makes no completion, so the collector does not know of it.
  expect_found(sq_wait(),
               {{"op 0\n", "op 0 signaled\n"}, {"op 1 latest 1 signaled", "op 1 latest 1"}},
               {root});
}

TEST(CheckQueues, ProgramsFitTheirLimits) {
  QueueCheckOptions options;
  options.limits.queue_depth = 3;
  EXPECT_EQ(found_in(sq_wait(), options), Texts());
  options.limits.queue_depth = 2;
  EXPECT_EQ(found_in(sq_wait(), options),
            (Texts{"depth: queue 0 (data send, rank 0) has 3 entries; the NIC's queues hold 2",
                   "depth: queue 4 (data send, rank 1) has 3 entries; the NIC's queues hold 2",
                   "depth: queue 8 (collect management, rank 1) has 3 entries; the NIC's queues "
                   "hold 2"}));
  options.max_diagnostics = 2;
  EXPECT_EQ(found_in(sq_wait(), options).size(), 2u);
  options.max_diagnostics = 0;  // whether there is any
  EXPECT_EQ(found_in(sq_wait(), options).size(), 1u);
  options = {};
  options.limits.message_bytes = 8;
  EXPECT_EQ(found_in(sq_wait(), options), Texts());
  options.limits.message_bytes = 7;
  const Texts large = found_in(sq_wait(), options);
  ASSERT_EQ(large.size(), 6u);
  EXPECT_EQ(large.front(), "depth: " + kSend1 + "moves more than 7 bytes");
  options = {};
  options.limits.ignore_overrun = false;
  options.limits.cq_depth = 2;
  EXPECT_EQ(found_in(sq_wait(), options), Texts());
  options.limits.cq_depth = 1;
  EXPECT_EQ(found_in(sq_wait(), options),
            (Texts{"depth: completion queue 1 gets 2 completions, which nobody reads; it holds 1 "
                   "and the NIC cannot let it run over"}));
  options = {};
  options.limits.cross_channel = false;
  EXPECT_EQ(found_in(rdmc_mq(), options),
            (Texts{"capability: the program waits and enables; the NIC has no cross-channel "
                   "queues"}));
}

const std::string kManager = "of queue 8 (order management, rank 0) ";

TEST(CheckQueues, EnablesGoOneByOne) {
  expect_found(mq_enable(), {{"  wait 3 count 2 latest 1\n  send_enable 0 count 2 latest 1\n", ""}},
               {"deadlock: entry 1 (send) of queue 0 (data send, rank 0) is never enabled",
                "deadlock: entry 0 (wait) of queue 10 (collect management, rank 1) waits for ever: "
                "completion queue 1 comes to 1 of 2",
                "deadlock: entry 0 (wait) of queue 11 (collect management, rank 0) waits for ever: "
                "completion queue 0 comes to 0 of 1",
                "enable: queue 0 (data send, rank 0) is managed, and 1 of its 2 entries are "
                "enabled"});
  // Two at once, and then the second again.
  expect_found(
      mq_enable(), {{"send_enable 0 count 1", "send_enable 0 count 2"}},
      {"ready: " + kSend1 + "may send op 1 (send, rank 0) before its receive is posted",
       "enable: entry 1 (send_enable) " + kManager + "enables queue 0 up to 2; expected 1",
       "excess: entry 1 (send_enable) " + kManager +
           "stands behind a wait for 1 completions of completion queue 3, which it does "
           "not need",
       "enable: entry 3 (send_enable) " + kManager + "enables queue 0 up to 2, after 2 and of 2",
       "order: entry 3 (send_enable) " + kManager +
           "is out of its turn among the messages of rank 0"});
  // One more than there is.
  expect_found(
      mq_enable(), {{"send_enable 0 count 2", "send_enable 0 count 3"}},
      {"enable: entry 3 (send_enable) " + kManager + "enables queue 0 up to 3, after 1 and of 2",
       "enable: queue 0 (data send, rank 0) is managed, and 1 of its 2 entries are "
       "enabled"});
  // None.
  expect_found(mq_enable(), {{"send_enable 4 count 1", "send_enable 4 count 0"}},
               {"deadlock: entry 0 (send) of queue 4 (data send, rank 1) is never enabled",
                "deadlock: entry 1 (wait) of queue 10 (collect management, rank 1) waits for ever: "
                "completion queue 4 comes to 0 of 1",
                "deadlock: entry 0 (wait) of queue 12 (collect management, rank 2) waits for ever: "
                "completion queue 5 comes to 0 of 1",
                "enable: entry 2 (send_enable) of queue 9 (order management, rank 1) enables queue "
                "4 up to 0, after 0 and of 1",
                "enable: queue 4 (data send, rank 1) is managed, and 0 of its 1 entries are "
                "enabled"});
  expect_found(mq_enable(), {{"peer 5 managed", "peer 5"}},
               {"ready: entry 0 (send) of queue 4 (data send, rank 1) may send op 4 (send, rank 1) "
                "before its receive is posted",
                "hold: entry 0 (send) of queue 4 (data send, rank 1) may send op 4 (send, rank 1) "
                "before 1 completions of completion queue 1, without which rank 1 does not hold it",
                "enable: entry 2 (send_enable) of queue 9 (order management, rank 1) enables queue "
                "4, which is not managed"});
}

TEST(CheckQueues, CreditsAreForReceivesThatAreThere) {
  const std::string grants = "queue 2 (credit send, rank 1) ";
  const std::string grant = "of " + grants;
  // The credit before its receive is there.
  expect_found(mq_enable(),
               {{"  recv_enable 1 count 1\n  send\n", "  send\n  recv_enable 1 count 1\n"}},
               {"ready: entry 0 (send) " + grant +
                "is the credit for 1 receives of queue 1, of which 0 are enabled"});
  expect_found(mq_enable(),
               {{"  wait 1 count 1\n  recv_enable 1 count 2\n  send\n",
                 "  send\n  wait 1 count 1\n  recv_enable 1 count 2\n"}},
               {"ready: entry 2 (send) " + grant +
                "is the credit for 2 receives of queue 1, of which 1 are enabled"});
  // More at once than the window, and the second without the first's completion.
  expect_found(
      mq_enable(), {{"  wait 1 count 1\n  recv_enable 1 count 2", "  recv_enable 1 count 2"}},
      {"ready: entry 2 (recv_enable) " + grant + "enables more than a window of receives"});
  expect_found(
      mq_enable(),
      {{"recv_enable 1 count 1\n  send\n  wait 1 count 1\n  recv_enable 1 count 2\n",
        "recv_enable 1 count 2\n  send\n"}},
      {"enable: entry 0 (recv_enable) " + grant + "enables queue 1 up to 2; expected 1",
       "ready: entry 0 (recv_enable) " + grant + "enables more than a window of receives"});
  expect_found(mq_enable(), {{" serves 1", ""}},
               {"ready: " + grants + "serves no receive queue",
                "ready: " + grants + "serves no receive queue"});
  expect_found(mq_enable(), {{" serves 1", " serves 4"}},
               {"ready: " + grants + "serves no receive queue",
                "ready: " + grants + "serves no receive queue"});
  expect_found(mq_enable(), {{"  recv_enable 5 count 1\n", ""}},
               {"deadlock: entry 0 (recv) of queue 5 (data receive, rank 2) is never enabled",
                "deadlock: entry 1 (wait) of queue 10 (collect management, rank 1) waits for ever: "
                "completion queue 4 comes to 0 of 1",
                "deadlock: entry 0 (wait) of queue 12 (collect management, rank 2) waits for ever: "
                "completion queue 5 comes to 0 of 1",
                "ready: entry 0 (send) of queue 6 (credit send, rank 2) is the credit for 1 "
                "receives of queue 5, of which 0 are enabled",
                "enable: queue 5 (data receive, rank 2) is managed, and 0 of its 1 entries are "
                "enabled"});
}

TEST(CheckQueues, RdmcWaitsForWhatItEnabledStepByStep) {
  const std::string root = "of queue 4 (order management, rank 0) ";
  const std::string relays = "of queue 5 (order management, rank 1) ";
  const std::string order =
      "is out of RDMC's order: a step's receives, its sends, then their completions";
  expect_found(rdmc_mq(), {{"  wait 0 count 1\n", ""}},
               {"order: queue 4 (order management, rank 0) ends without having waited for all that "
                "it enabled"});
  expect_found(rdmc_mq(), {{"  wait 0 count 1\n", "  wait 0 count 1\n  wait 0 count 1\n"}},
               {"excess: entry 3 (wait) " + root +
                "waits for 1 completions of completion queue 0, the last of which is none that it "
                "enabled and did not wait for"});
  // The next step's send before this step's completions.
  expect_found(rdmc_mq(),
               {{"  wait 1 count 1\n  wait 1 count 2 latest 1\n  send_enable 2 count 1 step 1 "
                 "latest 1\n",
                 "  send_enable 2 count 1 step 1 latest 1\n  wait 1 count 1\n  wait 1 count 2 "
                 "latest 1\n"}},
               {"hold: entry 0 (send) of queue 2 (data send, rank 1) may send op 4 (send, rank 1) "
                "before 1 completions of completion queue 1, without which rank 1 does not hold it",
                "order: entry 2 (send_enable) " + relays + order});
  // One by one, where the step asks for both at once.
  expect_found(rdmc_mq(),
               {{"  send_enable 0 count 2 latest 1\n  wait 0 count 1\n",
                 "  wait 0 count 1\n  send_enable 0 count 2 latest 1\n"}},
               {"order: entry 2 (send_enable) " + root + order});
  // Between the step's waits.
  expect_found(rdmc_mq(),
               {{"  wait 1 count 2 latest 1\n  send_enable 2 count 1 step 1 latest 1\n",
                 "  send_enable 2 count 1 step 1 latest 1\n  wait 1 count 2 latest 1\n"}},
               {"order: entry 3 (send_enable) " + relays + order});
}

}  // namespace
}  // namespace slackline::offload
