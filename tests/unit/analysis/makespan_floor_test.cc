// The floor of a makespan where two ways pass one link, which is shared or not.
#include "analysis/makespan_floor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/event_engine.h"
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
      EXPECT_NEAR(run_events(crossing.schedule, platform, crossing.wiring).makespan_s(), 1e-3, 1e-9)
          << nic;
      EXPECT_NEAR(makespan_floor_s(crossing.schedule, platform, crossing.wiring),
                  shared ? 2e-3 : 1e-3, 1e-9)
          << nic;
    }
  }
}

}  // namespace
}  // namespace slackline::analysis
