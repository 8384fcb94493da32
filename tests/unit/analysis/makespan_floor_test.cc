// The floor of a makespan where two ways pass one link, which is shared or not.
#include "analysis/advice/makespan_floor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/engines/event_engine.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using machine::LinkId;
using sched::RankId;

// Ranks 0 and 2 write 1 MB to 1 and 3, both over one link of 8 Gbps: 1 ms each way alone.
struct Crossing {
  sched::Schedule schedule;
  machine::Wiring wiring;

  explicit Crossing(bool shared) : schedule(two_puts()), wiring(wired(shared)) {}

  static sched::Schedule two_puts() {
    testing::Program p(4);
    p.put(p.channel(0, 1), 1'000'000);
    p.put(p.channel(2, 3), 1'000'000);
    return p.build();
  }
  static machine::Wiring wired(bool shared) {
    std::vector<std::string> hosts;
    std::vector<machine::Link> links;
    for (std::uint32_t r = 0; r < 4; ++r) {
      hosts.push_back(std::to_string(r));
      links.push_back({hosts.back() + ".out", {80'000'000'000}});
      links.push_back({hosts.back() + ".in", {80'000'000'000}});
    }
    const LinkId middle(static_cast<std::uint32_t>(links.size()));
    links.push_back({"middle", {8'000'000'000}, shared});
    std::vector<machine::Wiring::FixedRoute> routes;
    for (std::uint32_t src = 0; src < 4; ++src) {
      for (std::uint32_t dst = 0; dst < 4; ++dst) {
        if (src == dst) continue;
        machine::Route route;
        route.links = {LinkId(2 * src), middle, LinkId(2 * dst + 1)};
        routes.push_back({RankId(src), RankId(dst), route});
      }
    }
    return {hosts, links, routes};
  }
};

TEST(MakespanFloor, OfALinkThatIsSharedAndOfOneThatIsNot) {
  for (const char* nic : {"serial", "fair"}) {
    const machine::Platform platform = machine::parse_platform_spec(
        std::string("star:rate=80Gbps,latency=0,o_post=0,o_complete=0,gap=0,interleave=0,nic=") +
        nic);
    for (const bool shared : {true, false}) {
      const Crossing crossing(shared);
      // What each takes alone.
      EXPECT_NEAR(run_events({crossing.schedule, platform, crossing.wiring}).makespan_s(), 1e-3,
                  1e-9)
          << nic;
      EXPECT_NEAR(makespan_floor_s({crossing.schedule, platform, crossing.wiring}),
                  shared ? 2e-3 : 1e-3, 1e-9)
          << nic;
    }
  }
}

using testing::Program;
using testing::us;

constexpr const char* kStar =
    "star:rate=8Gbps,latency=1us,o_post=0,o_complete=0,gap=0,interleave=4096,copy_rate=8Gbps";

double floor_us(Program& p, const std::string& spec) {
  const machine::Platform platform = machine::parse_platform_spec(spec);
  const sched::Schedule schedule = p.build();
  const machine::Wiring wiring(platform, schedule.rank_count());
  const double floor_s = makespan_floor_s({schedule, platform, wiring});
  const sched::Trace trace = run_events({schedule, platform, wiring});
  EXPECT_TRUE(trace.contended || floor_s <= trace.makespan_s() + 1e-15);
  return floor_s * 1e6;
}

// A lane is busy from the first that may begin on it until the last has gone on as long as it must.
TEST(MakespanFloor, OfALaneIsWhatItDoes) {
  const auto calcs = [](int lane, double before_us, double after_us) {
    Program p(1);
    const sched::OpId first_wait = p.delay(0, us(before_us));
    const sched::OpId second_wait = p.delay(0, us(before_us + 1));
    const sched::OpId first = p.calc(0, us(3));
    const sched::OpId second = p.calc(0, us(4), static_cast<std::uint16_t>(lane));
    p.after({first_wait}, first);
    p.after({second_wait}, second);
    if (after_us > 0) {
      p.after({first}, p.delay(0, us(after_us)));
      p.after({second}, p.delay(0, us(after_us + 1)));
    }
    return floor_us(p, kStar);
  };
  EXPECT_NEAR(calcs(0, 0, 0), 7, 1e-9);
  EXPECT_NEAR(calcs(0, 2, 0), 9, 1e-9);
  EXPECT_NEAR(calcs(0, 2, 5), 14, 1e-9);
  EXPECT_NEAR(calcs(1, 2, 5), 2 + 1 + 4 + 6, 1e-9);  // the longer way
}

TEST(MakespanFloor, OfALaneCountsPosts) {
  const auto puts = [](std::uint16_t lane) {
    Program p(3);
    p.put(p.channel(0, 1), 0);
    p.put(p.channel(0, 2), 0, sched::Notify::kNone, lane);
    const std::string star = kStar;
    return floor_us(p, std::string(star).replace(star.find("o_post=0"), 8, "o_post=3us"));
  };
  // Two posts, then there and back.
  EXPECT_NEAR(puts(0), 3 + 3 + 2, 1e-9);
  EXPECT_NEAR(puts(1), 3 + 2, 1e-9);
}

// Ports of each direction and class by themselves.
TEST(MakespanFloor, OfAPortIsWhatPassesIt) {
  const auto two = [](std::uint64_t first, std::uint64_t second, bool one_sender,
                      const std::string& more = "") {
    Program p(3);
    p.put(p.channel(0, 1), first);
    p.put(one_sender ? p.channel(0, 2) : p.channel(2, 1), second);
    return floor_us(p, kStar + more);
  };
  for (const bool one_sender : {true, false}) {
    for (const char* nic : {",nic=serial", ",nic=fair"}) {
      EXPECT_NEAR(two(10'000, 5'000, one_sender, nic), 15 + 2, 1e-9) << nic;
      EXPECT_NEAR(two(10'000, 4'096, one_sender, nic), 10 + 2, 1e-9) << nic;
    }
    EXPECT_NEAR(two(4'000, 3'000, one_sender, ",nic=serial"), 7 + 2, 1e-9);
    EXPECT_NEAR(two(4'000, 3'000, one_sender, ",nic=fair"), 4 + 2, 1e-9);
  }
  // One way in, the other out; and gets, which are not counted.
  Program through(3);
  through.put(through.channel(0, 1), 10'000);
  through.put(through.channel(1, 2), 10'000);
  EXPECT_NEAR(floor_us(through, kStar), 10 + 2, 1e-9);
  Program gets(3);
  gets.get(gets.channel(0, 1), 10'000);
  gets.get(gets.channel(0, 2), 10'000);
  EXPECT_NEAR(floor_us(gets, kStar), 10 + 2, 1e-9);
  // Within a machine there is no port.
  Program local(2);
  local.put(local.channel(0, 1), 10'000);
  local.put(local.channel(0, 1), 10'000);
  Program one(2);
  one.put(one.channel(0, 1), 10'000);
  const std::string nodes = std::string(kStar) + ",ranks_per_node=2";
  EXPECT_NEAR(floor_us(local, nodes), floor_us(one, nodes), 1e-9);
}

TEST(MakespanFloor, OfNothing) {
  Program none(1);
  EXPECT_EQ(floor_us(none, kStar), 0);
}

}  // namespace
}  // namespace slackline::analysis
