// What simulators of others are not told of a platform: refused by name, or named in the answer.
#include "engines/other_simulators.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "machine/platform.h"
#include "sched/builder.h"
#include "sched/compile.h"
#include "sched/import/goal.h"
#include "tests/support/error_of.h"

namespace slackline::engines {
namespace {

const OtherSimulator& named(std::string_view name) { return *find_other_simulator(name); }

// How they differ on a platform, but for what always differs.
std::string unheeded(std::string_view simulator, const std::string& spec, const std::string& on) {
  const sched::Schedule schedule = compile(sched::parse_spec(spec));
  const machine::Platform platform = machine::parse_platform_spec(on);
  const std::string said = how_it_differs(named(simulator), {schedule, platform});
  const std::string always(named(simulator).differs);
  EXPECT_EQ(said.substr(0, always.size()), always);
  return said.substr(always.size());
}

std::string refusal(std::string_view simulator, const sched::Schedule& schedule,
                    const std::string& on) {
  const machine::Platform platform = machine::parse_platform_spec(on);
  return testing::error_of<Unsupported>([&] { named(simulator).job({schedule, platform}, "x"); });
}

TEST(OtherSimulators, FiguresThatTheyDoNotGoByAreNamed) {
  const std::string chain = "chain:ranks=3,bytes=2MiB,ready=none";
  for (const std::string_view each : {"loggopsim", "htsim", "astra-sim"}) {
    EXPECT_EQ(unheeded(each, chain, "star"), "") << each;
    EXPECT_EQ(unheeded(each, chain, "star:o_complete=1ns"), "; without o_complete") << each;
    EXPECT_EQ(unheeded(each, "reduce:ranks=3,bytes=2MiB,ready=none", "star"), "; without copy_rate")
        << each;
    // What is counted takes its own time.
    const std::string call = "call:ranks=2,bytes=64,via=send,handler=1us,reads=";
    EXPECT_EQ(unheeded(each, call + "count", "star"), "") << each;
    EXPECT_EQ(unheeded(each, call + "all", "star"), "; without copy_rate") << each;
  }
  const std::string costs = "star:o_post=1ns,gap=1ns";
  EXPECT_EQ(unheeded("loggopsim", chain, costs), "");
  EXPECT_EQ(unheeded("htsim", chain, costs), "; without gap");
  EXPECT_EQ(unheeded("astra-sim", chain, costs), "; without o_post, gap");
  const std::string routed = "fat-tree:arity=4,routing=ecmp";
  EXPECT_EQ(unheeded("htsim", chain, routed), "; without routing");
  EXPECT_EQ(unheeded("loggopsim", chain, routed), "");
}

// Credits pass blocks, but where each port has one of the two only.
TEST(OtherSimulators, InterleavingIsNamedWhereSizesMeet) {
  const auto said = [](const char* spec, const char* on) {
    return unheeded("loggopsim", spec, on);
  };
  const std::string without = "; without interleave";
  EXPECT_EQ(said("chain:ranks=3,bytes=2MiB", "star"), without);
  EXPECT_EQ(said("chain:ranks=3,bytes=2MiB", "star:interleave=0"), without);
  EXPECT_EQ(said("chain:ranks=2,bytes=2MiB", "star"), "");
  EXPECT_EQ(said("chain:ranks=3,bytes=2MiB,ready=none", "star"), "");
  // A last block of 4 KiB, …
  EXPECT_EQ(said("chain:ranks=2,bytes=1028KiB,ready=none", "star"), without);
  // …which is too large.
  EXPECT_EQ(said("chain:ranks=2,bytes=1028KiB,ready=none", "star:interleave=4095B"), "");
  EXPECT_EQ(said("chain:ranks=3,bytes=4KiB", "star"), "");
  EXPECT_EQ(unheeded("htsim", "chain:ranks=3,bytes=2MiB", "star"), "");
  EXPECT_EQ(unheeded("astra-sim", "chain:ranks=2,bytes=1028KiB,ready=none", "star"), without);
}

TEST(OtherSimulators, ADelayThatHoldsNoLaneIsNamed) {
  sched::ScheduleBuilder b(1);
  sched::Op op;
  op.kind = sched::OpKind::kDelay;
  op.rank = sched::RankId(0);
  b.add(op, {sched::Time{1'000'000}, {}, {}, {}});
  const sched::Schedule schedule = b.build();
  const machine::Platform platform = machine::parse_platform_spec("star");
  EXPECT_TRUE(how_it_differs(named("loggopsim"), {schedule, platform})
                  .ends_with("; without delays that leave the CPU free"));
}

TEST(OtherSimulators, NetworksThatTheyDoNotHaveAreRefused) {
  const sched::Schedule chain = compile(sched::parse_spec("chain:ranks=3,bytes=2MiB,ready=none"));
  const std::string fair =
      ": nic=fair, and its links carry one message after another; expected "
      "nic=serial";
  EXPECT_EQ(refusal("loggopsim", chain, "star:nic=fair"), "loggopsim" + fair);
  EXPECT_EQ(refusal("astra-sim", chain, "star:nic=fair"), "astra-sim" + fair);
  EXPECT_EQ(refusal("htsim", chain, "star:nic=fair"), "");
  const std::string racks = "two-level:racks=2,hosts=2,latency=1us";
  EXPECT_EQ(refusal("loggopsim", chain, racks), "");
  EXPECT_EQ(refusal("loggopsim", chain, racks + ",hop_latency=1ns"),
            "loggopsim: hop_latency=1ns, and it has one latency for all ranks; expected 0");
  EXPECT_EQ(refusal("htsim", chain, racks + ",hop_latency=1ns"), "");
}

TEST(OtherSimulators, MessagesThatTheyDoNotHaveAreRefused) {
  const auto message = [](const std::string& bytes) {
    return compile(
        sched::parse_spec("chain:ranks=2,bytes=" + bytes + ",block=" + bytes + ",ready=none"));
  };
  EXPECT_EQ(refusal("loggopsim", message("1000000000B"), "star"), "");
  EXPECT_EQ(refusal("loggopsim", message("1000000001B"), "star"),
            "loggopsim: op 0 (send, rank 0): 1000000001 bytes; expected at most 1000000000");
  // 12.5 bytes leave in a nanosecond at 100 Gb/s, 1 at 8 Gb/s.
  EXPECT_EQ(refusal("astra-sim", message("13B"), "star:rate=100Gbps"), "");
  EXPECT_EQ(refusal("astra-sim", message("12B"), "star:rate=100Gbps"),
            "astra-sim: op 0 (send, rank 0): a message of 12 bytes; expected more than leave in a "
            "nanosecond, 12.5");
  EXPECT_NE(refusal("astra-sim", message("1B"), "star:rate=8Gbps"), "");
  EXPECT_EQ(refusal("astra-sim", message("2B"), "star:rate=8Gbps"), "");
  EXPECT_EQ(refusal("astra-sim", compile(sched::parse_spec("chain:ranks=1,bytes=1MiB")), "star"),
            "astra-sim: one rank; expected at least 2");

  sched::GoalOptions eager;
  eager.eager_bytes = 1000;
  const sched::Schedule own = sched::read_goal(
      "num_ranks 2\nrank 0 {\nsend 99b to 0\nrecv 99b from 0\n}\nrank 1 {\ncalc 1000\n}\n", "goal",
      eager);
  EXPECT_EQ(refusal("htsim", own, "star"),
            "htsim: op 0 (send, rank 0): a message of a rank to itself; expected two ranks");
  EXPECT_EQ(refusal("astra-sim", own, "star"),
            "chakra: op 0 (send, rank 0) is of a message to its own rank; Chakra's go to others");
  EXPECT_EQ(refusal("loggopsim", own, "star"), "");
}

TEST(OtherSimulators, AstraSimHasWholeMicrosecondsAndBusyRanks) {
  const auto said = [](const char* program) {
    return refusal("astra-sim", sched::read_goal(program), "star");
  };
  EXPECT_EQ(said("num_ranks 2\nrank 0 {\ncalc 2000\n}\nrank 1 {\ncalc 0\n}\n"), "");
  EXPECT_EQ(said("num_ranks 2\nrank 0 {\ncalc 2000\n}\nrank 1 {\ncalc 1500\n}\n"),
            "astra-sim: op 1 (calc, rank 1): 1500ns; expected whole microseconds");
  EXPECT_EQ(said("num_ranks 2\nrank 0 {\ncalc 2000\n}\nrank 1 {\n}\n"),
            "astra-sim: rank 1 does nothing; expected a send, a receive or a calc of each rank");
}

}  // namespace
}  // namespace slackline::engines
