// What the queues' emulator says went wrong, of programs changed in one place: each kind of fault
// by its text.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "offload/emulate.h"
#include "offload/queue_text.h"
#include "tests/unit/offload/relay_programs.h"

namespace slackline::offload {
namespace {

using testing::edited;
using testing::mq_enable;
using testing::relay;
using testing::sq_wait;

// Whatever 64 interleavings say.
std::set<std::string> faults_of(const std::string& text) {
  const QueueProgram program = read_queues(text, "f");
  const MessageGraph graph(relay());
  Emulator emulator(program, relay(), graph);
  std::set<std::string> all;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    const Emulation run = emulator.run(static_cast<Timing>(seed % 4), seed);
    all.insert(run.faults.begin(), run.faults.end());
    EXPECT_EQ(run.sound(), emulator.is_sound(seed));
  }
  return all;
}

using Faults = std::set<std::string>;

TEST(NicFaults, ThereAreNoneOfSoundPrograms) {
  EXPECT_EQ(faults_of(sq_wait()), Faults());
  EXPECT_EQ(faults_of(mq_enable()), Faults());
  EXPECT_EQ(faults_of(testing::rdmc_mq()), Faults());
}

TEST(NicFaults, ReceivesArePostedBeforehand) {
  EXPECT_EQ(faults_of(edited(sq_wait(), {{"  wait 3 count 1\n", ""}})),
            (Faults{"a message of queue 0 (data send, rank 0) arrives before its receive is "
                    "posted"}));
  // Without readiness that is nobody's fault.
  EXPECT_EQ(
      faults_of(edited(sq_wait(), {{"ready handshake", "ready none"}, {"  wait 3 count 1\n", ""}})),
      Faults());
}

TEST(NicFaults, RelaysHoldWhatTheySend) {
  const std::string early = "entry 1 (send) of queue 4 (data send, rank 1) sends ";
  EXPECT_EQ(faults_of(edited(sq_wait(), {{"  wait 1 count 1 step 1 latest 1\n", ""}})),
            (Faults{early + "op 4 (send, rank 1) before op 2 (recv, rank 1) is done",
                    early + "what is not there: rank 1, buffer 1 at 0",
                    "in the end rank 2, buffer 2 at 0 does not hold what the contract says",
                    "the source of entry 1 (send) of queue 4 (data send, rank 1) changed before it "
                    "was acknowledged: rank 1, buffer 1 at 0"}));
}

TEST(NicFaults, MessagesLandWhereTheyAreMeantTo) {
  const std::string first = "entry 1 (send) of queue 0 (data send, rank 0) ";
  const std::string second = "entry 2 (send) of queue 0 (data send, rank 0) ";
  const std::string at0 = "entry 0 (recv) of queue 1 (data receive, rank 1)";
  const std::string at1 = "entry 1 (recv) of queue 1 (data receive, rank 1)";
  const std::string meant = ", which is meant for another message";
  const Faults swapped =
      faults_of(edited(sq_wait(), {{"  recv 1[0+8] op 2\n  recv 1[8+8] op 3 latest 1\n",
                                    "  recv 1[8+8] op 3 latest 1\n  recv 1[0+8] op 2\n"}}));
  EXPECT_TRUE(swapped.contains(first + "lands in " + at0 + meant));
  EXPECT_TRUE(swapped.contains(second + "lands in " + at1 + meant));
  const Faults nobodys = faults_of(edited(sq_wait(), {{"recv 1[8+8] op 3", "recv 1[8+8]"}}));
  EXPECT_TRUE(nobodys.contains(second + "lands in " + at1 + meant));
  EXPECT_FALSE(nobodys.contains(first + "lands in " + at0 + meant));
  const Faults short_one = faults_of(edited(sq_wait(), {{"recv 1[8+8] op 3", "recv 1[8+7] op 3"}}));
  EXPECT_EQ(short_one, (Faults{second + "does not fit into " + at1}));
}

TEST(NicFaults, MemoryIsWrittenOnceAndKept) {
  const Faults twice = faults_of(edited(sq_wait(), {{"recv 1[8+8] op 3", "recv 1[0+8] op 3"}}));
  const std::string place = "rank 1, buffer 1 at 0";
  EXPECT_TRUE(
      twice.contains("entry 2 (send) of queue 0 (data send, rank 0) delivers a second time "
                     "to " +
                     place));
  EXPECT_TRUE(
      twice.contains("the source of entry 2 (send) of queue 4 (data send, rank 1) changed "
                     "before it was acknowledged: " +
                     place));
  EXPECT_EQ(faults_of(edited(sq_wait(), {{"send 0[0+8] op 0", "send 0[8+8] op 0"}})),
            (Faults{"in the end rank 2, buffer 2 at 0 does not hold what the contract says"}));
}

TEST(NicFaults, QueuesComeToTheirEndAndNoFurther) {
  EXPECT_EQ(faults_of(edited(mq_enable(), {{"send_enable 0 count 2", "send_enable 0 count 3"}})),
            (Faults{"queue 0 (data send, rank 0) runs past its last entry"}));
  const Faults stuck = faults_of(edited(sq_wait(), {{"wait 4 count 1", "wait 4 count 2"}}));
  EXPECT_EQ(stuck, (Faults{"stuck: entry 1 (wait) of queue 8 (collect management, rank 1)"}));
  // Each run is counted by itself.
  const QueueProgram program =
      read_queues(edited(sq_wait(), {{"wait 4 count 1", "wait 4 count 2"}}), "f");
  const MessageGraph graph(relay());
  Emulator emulator(program, relay(), graph);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    EXPECT_EQ(emulator.run(Timing::kRandom, seed).stuck, 1u);
  }
}

}  // namespace
}  // namespace slackline::offload
