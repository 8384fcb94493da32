// What completions cost lanes, worked out by hand on round_platform() (a post takes 1 us, 1000
// bytes take 1 us on the wire, the way 3 us, and a completion is there 2 us after its event).
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "analysis/engines/analytic.h"
#include "analysis/engines/event_engine.h"
#include "analysis/engines/longest_path.h"
#include "analysis/engines/stream.h"
#include "analysis/slack/timed_slack.h"
#include "base/error.h"
#include "sched/text.h"
#include "tests/support/error_of.h"
#include "tests/unit/analysis/message_case.h"

namespace slackline {
namespace {

using machine::Platform;
using testing::ChannelId;
using testing::kAny;
using testing::MessageCase;
using testing::OpId;
using testing::Program;
using testing::us;

void expect_case(const MessageCase& c) {
  testing::expect_seen_by(c, analysis::run_events, analysis::run_analytic);
}

// Rank 0 sends `count` messages of 1000 bytes, which nothing waits for.
struct Messages {
  Program program{2};
  std::vector<OpId> sends;
  std::vector<OpId> receives;
  explicit Messages(int count) {
    const ChannelId c = program.channel(0, 1);
    for (int i = 0; i < count; ++i) sends.push_back(program.send(c, 1'000));
    for (int i = 0; i < count; ++i) receives.push_back(program.recv(c, 1'000));
  }
};

TEST(Completions, AreSeenOneAfterTheOther) {
  Messages m(3);
  Platform platform = testing::round_platform();
  platform.o_poll = us(4);
  platform.o_match = us(0.5);
  // Issued at 1, 2 and 3, there at 5, 6 and 7, and in the queue 2 us later. Looks take 4.5 each. Of
  // the sends the last alone is seen, whose completion is there at 12. The others are done when
  // their acknowledgement is back.
  expect_case({"looks",
               m.program.build(),
               platform,
               {{m.receives[0], 1, 5, 11.5},
                {m.receives[1], 2, 6, 16},
                {m.receives[2], 3, 7, 20.5},
                {m.sends[0], 1, 1, 10},
                {m.sends[2], 3, 3, 16}}});
}

TEST(Completions, OneLookTakesABatch) {
  Messages m(4);
  Platform platform = testing::round_platform();
  platform.o_poll = us(4);
  platform.o_match = us(0.5);
  platform.poll_batch = 2;
  // They come at 7, 8, 9 and 10. The first look takes one, from 7 to 11.5; the next two,
  // until 16.5.
  expect_case({"batches",
               m.program.build(),
               platform,
               {{m.receives[0], 1, 5, 11.5},
                {m.receives[1], 2, 6, 16.5},
                {m.receives[2], 3, 7, 16.5},
                {m.receives[3], 4, 8, 21}}});
}

// Two messages of two blocks, each into a buffer of its own, and a credit.
TEST(Completions, HaveTheirBlocksProcessedAndTheirMessagesCalledBackFor) {
  const sched::Schedule schedule = sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 4000\nbuffer 1 rank 1 bytes 2000\n"
      "buffer 2 rank 1 bytes 2000\nchannel 0 from 0 to 1\n"
      "pre 0[0+4000] value 0\n"
      "rank 0\n"
      "  0 send on 0 reads 0[0+1000]\n"
      "  1 send on 0\n"
      "  2 put on 0 reads 0[1000+1000] writes 1[1000+1000] imm\n"
      "  3 send on 0 reads 0[2000+1000]\n"
      "  4 send on 0 reads 0[3000+1000]\n"
      "rank 1\n"
      "  5 recv on 0 writes 1[0+1000]\n"
      "  6 recv on 0\n"
      "  7 recv on 0\n"
      "  8 recv on 0 writes 2[0+1000]\n"
      "  9 recv on 0 writes 2[1000+1000]\n");
  Platform platform = testing::round_platform();
  platform.o_block = us(2);
  platform.o_callback = us(20);
  // There at 7, 7 (a credit takes no wire), 9, 10 and 11. A block takes 2, the credit nothing.
  const auto done = [&](const Platform& p) {
    const sched::Trace trace = analysis::run_events({schedule, p});
    std::vector<double> all;
    for (std::uint32_t i = 5; i < 10; ++i)
      all.push_back(std::round(trace.ops[i].done_s * 1e9) / 1e3);
    return all;
  };
  // The put's block is the last of the first message, seen from 9 to 31; the second message's
  // second block ends at 31 + 2 + 22.
  EXPECT_EQ(done(platform), (std::vector<double>{9, 9, 31, 33, 55}));
  platform.o_callback = us(0);
  EXPECT_EQ(done(platform), (std::vector<double>{9, 9, 11, 13, 15}));
}

// A receive without bytes has nothing to process and completes no message, also where it names a
// place in memory: blocks of a message without bytes do, and those of a barrier.
TEST(Completions, WithoutBytesBringNoData) {
  const sched::Schedule schedule = sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 2000\nbuffer 1 rank 1 bytes 2000\n"
      "buffer 2 rank 1 bytes 0\nchannel 0 from 0 to 1\n"
      "pre 0[0+2000] value 0\n"
      "rank 0\n"
      "  0 send on 0 reads 0[0+0]\n"
      "  1 put on 0 reads 0[0+0] writes 2[0+0] imm\n"
      "  2 send on 0\n"
      "  3 send on 0 reads 0[0+1000]\n"
      "  4 send on 0 reads 0[1000+1000]\n"
      "rank 1\n"
      "  5 recv on 0 writes 2[0+0]\n"
      "  6 recv on 0\n"
      "  7 recv on 0 writes 1[0+1000]\n"
      "  8 recv on 0 writes 2[0+0] 1[0+1000]\n"
      "  9 recv on 0 writes 1[1000+1000]\n");
  Platform platform = testing::round_platform();
  platform.o_block = us(2);
  platform.o_callback = us(20);
  const sched::Trace trace = analysis::run_events({schedule, platform});
  std::vector<double> done_us;
  for (std::uint32_t i = 5; i < 10; ++i) {
    done_us.push_back(std::round(trace.ops[i].done_s * 1e9) / 1e3);
  }
  // Messages without bytes leave at 1, 2 and 3, are there at 4, 5 and 6, and are seen 2 us later.
  // Op 7 has room for bytes, and gets none. The two blocks are one message, of buffer 1 alone:
  // there at 10 and 11, its second block takes 2 + 20 from 12 on.
  EXPECT_EQ(done_us, (std::vector<double>{6, 7, 8, 12, 34}));
}

TEST(Completions, RefuseCallbacksWhereReceivesComeAgain) {
  const sched::Schedule schedule = sched::read_text(
      "slackline schedule 1\nranks 2\nbuffer 0 rank 0 bytes 8\nbuffer 1 rank 1 bytes 8\n"
      "channel 0 from 0 to 1\npre 0[0+8] value 0\nrank 0\n  0 send on 0 reads 0[0+8]\n"
      "rank 1\n  1 recv on 0 writes 1[0+8]\n"
      "region repeat entry 0 count 1 attempts 2\nregion repeat entry 1 count 1 attempts 2\n");
  Platform platform = testing::round_platform();
  platform.o_block = us(1);
  EXPECT_NO_THROW(analysis::run_events({schedule, platform}));
  platform.o_callback = us(1);
  EXPECT_THROW(analysis::run_events({schedule, platform}), Unsupported);
}

TEST(Completions, WaitForWhatHoldsTheLaneAndGoBeforeWhatWaitsForIt) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  p.send(c, 1'000);
  const OpId recv = p.recv(c, 1'000);
  const OpId first = p.calc(1, us(20));
  const OpId second = p.calc(1, us(20));
  Platform platform = testing::round_platform();
  platform.o_poll = us(4);
  // There at 7, while the first calculation has the lane until 21. The second waits for the look.
  expect_case({"a calculation",
               p.build(),
               platform,
               {{recv, 1, 5, 25}, {first, 1, kAny, 21}, {second, 25, kAny, 45}}});
}

TEST(Completions, OfSendsAreSeenIfSomethingWaitsForThem) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId quiet = p.send(c, 0);
  const OpId awaited = p.send(c, 0);
  const OpId after = p.calc(0, us(1));
  p.after({awaited}, after);
  p.recv(c, 0);
  p.recv(c, 0);
  Platform platform = testing::round_platform();
  platform.o_signal = us(0.25);
  platform.o_poll = us(4);
  // The second is issued at 2.25, and acknowledged at 8.25. Its completion is there at 10.25.
  expect_case({"signals",
               p.build(),
               platform,
               {{quiet, 1, 1, 9}, {awaited, 2.25, 2.25, 14.25}, {after, 14.25, kAny, 15.25}}});
}

TEST(Completions, PostingAReceiveMayTakeATimeOfItsOwn) {
  Messages m(2);
  Platform platform = testing::round_platform();
  platform.o_post_recv = us(10);
  // The first message waits for its receive, and the second too.
  expect_case({"receives",
               m.program.build(),
               platform,
               {{m.receives[0], 10, 5, 12}, {m.receives[1], 20, 6, 22}, {m.sends[1], 2, 2, 25}}});
}

TEST(Completions, OfGetsHaveALook) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId get = p.get(c, 2'000);
  const OpId after = p.calc(0, us(1));
  p.after({get}, after);
  Platform platform = testing::round_platform();
  platform.o_poll = us(4);
  platform.o_match = us(100);  // which is of receives
  // Asked at 4, back at 9, there at 11.
  expect_case({"a get", p.build(), platform, {{get, 1, 4, 15}, {after, 15, kAny, 16}}});
}

// Messages that are issued at such times.
struct Spaced {
  Program program{2};
  std::vector<OpId> receives;
  explicit Spaced(const std::vector<double>& begin_us) {
    const ChannelId c = program.channel(0, 1);
    for (const double at_us : begin_us) {
      const OpId wait = program.delay(0, us(at_us - 1));
      const OpId send = program.send(c, 1'000);
      program.after({wait}, send);
    }
    for (std::size_t i = 0; i < begin_us.size(); ++i) {
      receives.push_back(program.recv(c, 1'000));
    }
  }
};

TEST(Completions, WakeAProgramThatSleeps) {
  Spaced m({10, 11, 20, 40});
  const sched::Schedule schedule = m.program.build();
  Platform platform = testing::round_platform();
  platform.interrupt_cost = us(4);
  // A message that is issued at 10 is there at 14, and its completion at 16. A program that polls
  // sees it then, whatever an interrupt costs.
  expect_case(
      {"polling", schedule, platform, {{m.receives[0], 1, 14, 16}, {m.receives[3], 4, 44, 46}}});
  // The first wakes the program, which is awake at 20 and sees the second too, there since 17.
  platform.poll_for = us(0);
  expect_case({"interrupts",
               schedule,
               platform,
               {{m.receives[0], 1, 14, 20},
                {m.receives[1], 2, 15, 20},
                {m.receives[2], 3, 24, 30},
                {m.receives[3], 4, 44, 50}}});
  // It had posted its last receive at 4, and polls for 12 us: until 16, when the first is there.
  // The third comes 9 us after the second, and the last 20 us after that.
  platform.poll_for = us(12);
  expect_case({"both",
               schedule,
               platform,
               {{m.receives[0], 1, 14, 16},
                {m.receives[1], 2, 15, 17},
                {m.receives[2], 3, 24, 26},
                {m.receives[3], 4, 44, 50}}});
}

TEST(Completions, FindAProgramAwakeThatLooksAtMemory) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  const OpId wait = p.delay(0, us(20));
  const OpId send = p.send(c, 1'000);
  p.after({wait}, send);
  const OpId later = p.delay(0, us(50));
  const OpId put = p.put(c, 1'000, sched::Notify::kFlag);
  p.after({later}, put);
  const OpId last_wait = p.delay(0, us(80));
  const OpId last = p.send(c, 1'000);
  p.after({last_wait}, last);
  const OpId recv = p.recv(c, 1'000);
  const OpId poll = p.poll(1);
  p.flag(put, poll);
  const OpId asleep = p.recv(c, 1'000);
  Platform platform = testing::round_platform();
  platform.interrupt_cost = us(4);
  platform.poll_for = us(0);
  // The poll ends at 57. Until then the program looks at its memory, and sees what comes at once.
  const sched::Schedule schedule = p.build();
  expect_case(
      {"a poll", schedule, platform, {{recv, 1, 25, 27}, {poll, 0, 55, 57}, {asleep, 2, 85, 91}}});
  // From then on it polls for as long as it may before it sleeps: the last completion is there
  // at 87.
  platform.poll_for = us(31);
  expect_case(
      {"polling after a poll", schedule, platform, {{poll, 0, 55, 57}, {asleep, 2, 85, 87}}});
  platform.poll_for = us(29);
  expect_case(
      {"asleep after a poll", schedule, platform, {{poll, 0, 55, 57}, {asleep, 2, 85, 91}}});
}

// LogGP's receive overhead bounds the rate of messages where nothing else does.
TEST(Completions, PaceSmallMessages) {
  Messages m(100);
  Platform platform = testing::round_platform();
  platform.rate = {8'000'000'000'000};
  platform.o_post = us(0.1);
  platform.o_post_recv = us(0);
  platform.o_poll = us(2);
  const sched::Schedule schedule = m.program.build();
  const sched::Trace trace = analysis::run_events({schedule, platform});
  const double first_s = trace.ops[m.receives[0].value].done_s;
  EXPECT_NEAR(trace.ops[m.receives[99].value].done_s - first_s, 99 * 2e-6, 1e-12);
}

TEST(Completions, AreLeftToTheEventEngine) {
  Messages m(2);
  const sched::Schedule schedule = m.program.build();
  Platform platform = testing::round_platform();
  EXPECT_TRUE(analysis::longest_path({schedule, platform}).has_value());
  const auto with = [&](auto set) {
    Platform p = platform;
    set(p);
    return p;
  };
  const std::vector<Platform> costly = {with([](Platform& p) { p.o_poll = us(1); }),
                                        with([](Platform& p) { p.o_match = us(1); }),
                                        with([](Platform& p) { p.o_block = us(1); }),
                                        with([](Platform& p) { p.o_callback = us(1); }),
                                        with([](Platform& p) { p.o_signal = us(1); }),
                                        with([](Platform& p) {
                                          p.poll_for = us(1);
                                          p.interrupt_cost = us(1);
                                        }),
                                        with([](Platform& p) { p.o_post_recv = us(2); })};
  const sched::Spec spec = sched::parse_spec("chain:ranks=3,bytes=1MB,block=100KB");
  EXPECT_FALSE(analysis::why_not_streamed(spec, platform, {}).has_value());
  for (const Platform& p : costly) {
    EXPECT_FALSE(analysis::longest_path({schedule, p}).has_value()) << p.spec();
    EXPECT_TRUE(analysis::why_not_streamed(spec, p, {}).has_value()) << p.spec();
  }
}

// Three sends of 1000 bytes, in one bundle, which takes 1.5 us to gather and leaves at 2.5.
struct Gathered {
  Program program{2};
  std::vector<OpId> sends, receives;
  OpId after;  // that waits for the second, if `awaited`

  explicit Gathered(bool awaited) {
    const ChannelId c = program.channel(0, 1);
    program.builder().channel(c).bundle = sched::Bundle::kTraditional;
    program.builder().channel(c).bundle_bytes = 3'000;
    for (int i = 0; i < 3; ++i) sends.push_back(program.send(c, 1'000));
    if (awaited) {
      after = program.calc(0, us(1));
      program.after({sends[1]}, after);
    }
    for (int i = 0; i < 3; ++i) receives.push_back(program.recv(c, 1'000));
  }
};

TEST(Completions, OfABundleAreOne) {
  Platform platform = testing::round_platform();
  platform.o_poll = us(4);
  platform.o_match = us(0.5);
  // Three microseconds on the wire: there at 8.5, and its completion at 10.5. One look takes 5.5.
  // The sender's is there at 13.5, and its look takes 4.
  Gathered quiet(false);
  expect_case({"a bundle",
               quiet.program.build(),
               platform,
               {{quiet.sends[0], 0.5, 2.5, 17.5},
                {quiet.sends[2], 1.5, 2.5, 17.5},
                {quiet.receives[0], 1, 8.5, 16},
                {quiet.receives[1], 2, 8.5, 16},
                {quiet.receives[2], 3, 8.5, 16}}});
  // Somebody waits for the second: its post takes a signal, once, and it is seen, there at 13.75.
  platform.o_signal = us(0.25);
  Gathered awaited(true);
  expect_case({"a bundle that is waited for",
               awaited.program.build(),
               platform,
               {{awaited.sends[0], 0.5, 2.75, 17.75},
                {awaited.sends[1], 1, 2.75, 17.75},
                {awaited.after, 17.75, kAny, 18.75},
                {awaited.receives[2], 3, 8.75, 16.25}}});
}

// What all of them are waited for, and one receive that comes late.
TEST(Completions, OfABundleWaitForTheLastOfIt) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  p.builder().channel(c).bundle = sched::Bundle::kTraditional;
  p.builder().channel(c).bundle_bytes = 2'000;
  const OpId first = p.send(c, 1'000);
  const OpId second = p.send(c, 1'000);
  const OpId after = p.calc(0, us(1));
  p.after({first, second}, after);
  const OpId early = p.recv(c, 1'000);
  const OpId wait = p.delay(1, us(19));
  const OpId late = p.recv(c, 1'000);
  p.after({wait}, late);
  Platform platform = testing::round_platform();
  platform.o_poll = us(4);
  // Posted at 2, on the wire until 4, there at 7. The early receive is seen at 9 + 4, the late one,
  // posted at 20, at 22 + 4. The acknowledgements are there at 12 and at 25: the bundle's
  // completion is, then.
  expect_case({"a late receive",
               p.build(),
               platform,
               {{early, 1, 7, 13},
                {late, 20, 7, 26},
                {first, 0.5, 2, 29},
                {second, 1, 2, 29},
                {after, 29, kAny, 30}}});
}

// A full window is seen to have room by a look, and with it leaves what was gathered.
TEST(Completions, MakeRoomForWhatIsGathered) {
  Program p(2);
  const ChannelId c = p.channel(0, 1);
  p.builder().channel(c).bundle = sched::Bundle::kOverflow;
  p.builder().channel(c).bundle_bytes = 1'000'000;
  p.builder().channel(c).window = 1;
  const OpId alone = p.put(c, 1'000);
  const OpId two = p.put(c, 1'000);
  const OpId three = p.put(c, 1'000);
  Platform platform = testing::round_platform();
  platform.o_poll = us(4);
  platform.o_signal = us(0.25);
  // Posted at 1.25, there at 5.25, acknowledged at 8.25, there for the program at 10.25 and seen at
  // 14.25. The bundle is posted until 15.5, on the wire until 17.5, and seen 4 us after 25.5.
  expect_case({"a window",
               p.build(),
               platform,
               {{alone, 1.25, 1.25, 14.25}, {two, 1.75, 15.5, 29.5}, {three, 2.25, 15.5, 29.5}}});
}

TEST(Completions, SlackSaysWhatItDoesNotKnow) {
  Messages m(2);
  const sched::Schedule schedule = m.program.build();
  Platform platform = testing::round_platform();
  platform.o_poll = us(1);
  const auto slack = [&](const Platform& p) {
    const sched::Trace trace = analysis::run_events({schedule, p});
    return analysis::timed_slack({schedule, p}, trace);
  };
  EXPECT_NO_THROW(slack(platform));
  Platform batches = platform;
  batches.poll_batch = 2;
  EXPECT_THROW(slack(batches), Unsupported);
  Platform sleeps = platform;
  sleeps.poll_for = us(1);
  EXPECT_NO_THROW(slack(sleeps));  // as interrupts cost nothing
  sleeps.interrupt_cost = us(1);
  EXPECT_THROW(slack(sleeps), Unsupported);
  Platform signals = platform;
  signals.o_signal = us(1);
  EXPECT_THROW(slack(signals), Unsupported);
  Platform blocks = platform;
  blocks.o_block = us(3);
  EXPECT_NO_THROW(slack(blocks));
  blocks.o_callback = us(3);
  EXPECT_THROW(slack(blocks), Unsupported);
}

TEST(Completions, AreFiguresOfPlatforms) {
  const std::string text =
      "star:o_post_recv=50ns,o_signal=20ns,o_poll=80ns,o_match=40ns,"
      "o_block=30ns,o_callback=1us,poll_batch=16,poll_for=50ms";
  const Platform p = machine::parse_platform_spec(text);
  EXPECT_EQ(p.o_post_recv, sched::Time{50'000});
  EXPECT_EQ(p.o_signal, sched::Time{20'000});
  EXPECT_EQ(p.o_poll, sched::Time{80'000});
  EXPECT_EQ(p.o_match, sched::Time{40'000});
  EXPECT_EQ(p.o_block, sched::Time{30'000});
  EXPECT_EQ(p.o_callback, sched::Time{1'000'000});
  EXPECT_EQ(p.poll_batch, 16u);
  EXPECT_EQ(p.poll_for, sched::Time{50'000'000'000});
  EXPECT_EQ(machine::parse_platform_spec(p.spec()).spec(), p.spec());
  EXPECT_EQ(machine::parse_platform_spec("star").spec().find("o_poll"), std::string::npos);
  // A receive that takes no time to post is a figure; none is not.
  EXPECT_NE(machine::parse_platform_spec("star:o_post_recv=0").spec().find("o_post_recv=0"),
            std::string::npos);
  EXPECT_THROW(machine::parse_platform_spec("star:poll_batch=0"), InputError);
  const Platform file = machine::platform_from_toml(
      "schema = 1\n[cpu]\no_poll = \"80ns\"\npoll_batch = 16\n", "a.toml");
  EXPECT_EQ(file.o_poll, sched::Time{80'000});
  EXPECT_EQ(file.poll_batch, 16u);
}

}  // namespace
}  // namespace slackline
