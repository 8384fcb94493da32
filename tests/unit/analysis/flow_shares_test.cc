// Flows whose rates are kept up as they begin and end, against rates that are found anew each time:
// by the same filling, for the same bits, and by the definition, in numbers of more digits.
#include "analysis/engines/flow_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/engines/max_min.h"
#include "machine/wiring.h"
#include "tests/property/random_runs.h"
#include "tests/unit/analysis/program.h"

namespace slackline::analysis {
namespace {

using machine::LinkId;
using machine::PathId;
using machine::Wiring;
using sched::OpId;
using sched::RankId;
using testing::Dice;

sched::Rate random_rate(Dice& dice) {
  return {1'000'000'000ull * (dice.one_in(2) ? 1 + dice.below(4) : 1 + dice.below(100))};
}

constexpr std::uint32_t kRanks = 8;
constexpr sched::Rate kGreatestRate{100'000'000'000};
// Bytes per second: what rates are whole numbers of where that is the greatest.
const double kUnit = std::ldexp(1.0, std::ilogb(kGreatestRate.bytes_per_second()) + 1 - 121);

// Some of the links are fat pipes. No way passes a link twice. The last link has the greatest rate
// that any ever has. With `ports`, every way begins with a link of its source's own and ends with
// one of its destination's.
Wiring random_wiring(Dice& dice, bool ports) {
  std::vector<machine::Link> links;
  for (std::uint32_t r = 0; ports && r < 2 * kRanks; ++r) {
    links.push_back({"port-" + std::to_string(r), random_rate(dice)});
  }
  for (std::uint32_t l = 3 + dice.below(dice.one_in(2) ? 3 : 20); l != 0; --l) {
    links.push_back({"link-" + std::to_string(l), random_rate(dice), !dice.one_in(5)});
  }
  links.push_back({"greatest", kGreatestRate});
  std::vector<Wiring::FixedRoute> routes;
  for (std::uint32_t s = 0; s < kRanks; ++s) {
    for (std::uint32_t d = 0; d < kRanks; ++d) {
      machine::Route route;
      if (ports) route.links = {LinkId(s), LinkId(kRanks + d)};
      if (s == 0) route.links.push_back(LinkId(static_cast<std::uint32_t>(links.size() - 1)));
      for (std::uint32_t n = 1 + dice.below(3); n != 0; --n) {
        const LinkId link(dice.below(static_cast<std::uint32_t>(links.size())));
        if (std::find(route.links.begin(), route.links.end(), link) == route.links.end()) {
          route.links.push_back(link);
        }
      }
      routes.push_back({RankId(s), RankId(d), route});
    }
  }
  return {std::vector<std::string>(kRanks, "host"), links, std::move(routes)};
}

sched::Schedule all_channels() {
  testing::Program program(kRanks);
  for (std::uint32_t s = 0; s < kRanks; ++s) {
    for (std::uint32_t d = 0; d < kRanks; ++d) {
      if (s != d) program.channel(s, d);
    }
  }
  return program.build();
}

// The rates are MaxMin's whole ones, or those of a loop that follows the definition.
enum class By { kFilling, kDefinition };

// Every link, every flow, every time.
template <class Real, By by>
class AnewShares {
 public:
  AnewShares(const machine::Paths& paths, const Wiring& wiring) : paths_(paths) {
    for (const machine::Link& link : wiring.links()) {
      links_.push_back({link.rate.bytes_per_second(), link.shared});
    }
  }

  void start(double now_s, PathId path, std::uint64_t bytes, OpId op) {
    flows_.push_back({path, op, 0, static_cast<Real>(bytes), now_s, 0});
  }
  void set_rate(LinkId link, double bytes_per_s) { links_[link.value].capacity = bytes_per_s; }

  void settle(double now_s) {
    const std::vector<Real> rates = by == By::kFilling ? filled() : defined();
    for (std::uint32_t f = 0; f < flows_.size(); ++f) {
      Flow& flow = flows_[f];
      if (rates[f] == flow.rate) continue;
      flow.left = std::max(Real{0}, flow.left - (now_s - flow.since_s) * flow.rate);
      flow.since_s = now_s;
      flow.rate = rates[f];
      flow.end_s = now_s + flow.left / flow.rate;
    }
  }

  double next_end_s() const {
    Real next_s = std::numeric_limits<Real>::infinity();
    for (const Flow& flow : flows_) next_s = std::min(next_s, flow.end_s);
    return static_cast<double>(next_s);
  }
  std::vector<OpId> take_ended(double until_s) {
    std::vector<OpId> ops;
    std::erase_if(flows_, [&](const Flow& flow) {
      if (flow.end_s > until_s) return false;
      ops.push_back(flow.op);
      return true;
    });
    return ops;
  }

 private:
  struct Link {
    double capacity;
    bool shared;
  };
  struct Flow {
    PathId path;
    OpId op;
    Real rate;
    Real left;
    double since_s;
    Real end_s;
  };
  double bound(const Flow& flow) const {
    double least = std::numeric_limits<double>::infinity();
    for (const LinkId link : paths_.links(flow.path)) {
      least = std::min(least, links_[link.value].capacity);
    }
    return least;
  }

  std::vector<Real> filled() {
    filling_.begin();
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      filling_.add_link(units(links_[l].capacity), l);
    }
    for (const Flow& flow : flows_) {
      filling_.add_flow(units(bound(flow)),
                        static_cast<std::uint32_t>(paths_.links(flow.path).size()));
      for (const LinkId link : paths_.links(flow.path)) {
        if (links_[link.value].shared) filling_.pass(link.value, 1);
      }
    }
    filling_.solve();
    std::vector<Real> rates;
    for (std::uint32_t f = 0; f < flows_.size(); ++f) {
      rates.push_back(static_cast<double>(filling_.rate(f)) * kUnit);
    }
    return rates;
  }
  static MaxMin::Rate units(double bytes_per_s) {
    return static_cast<MaxMin::Rate>(bytes_per_s / kUnit);
  }

  // Whoever has the least of its bound and of what its links have left for each stops growing.
  std::vector<Real> defined() const {
    std::vector<Real> rates(flows_.size(), 0);
    for (std::size_t stopped = 0; stopped < flows_.size(); ++stopped) {
      std::vector<Real> left(links_.size());
      std::vector<std::uint32_t> growing(links_.size(), 0);
      for (std::size_t l = 0; l < links_.size(); ++l) left[l] = links_[l].capacity;
      for (std::size_t f = 0; f < flows_.size(); ++f) {
        for (const LinkId link : paths_.links(flows_[f].path)) {
          left[link.value] -= rates[f];
          growing[link.value] += rates[f] == 0 ? 1 : 0;
        }
      }
      std::size_t least = flows_.size();
      Real level = std::numeric_limits<Real>::infinity();
      for (std::size_t f = 0; f < flows_.size(); ++f) {
        if (rates[f] != 0) continue;
        Real most = bound(flows_[f]);
        for (const LinkId link : paths_.links(flows_[f].path)) {
          if (links_[link.value].shared) {
            most = std::min(most, left[link.value] / growing[link.value]);
          }
        }
        if (most < level) {
          level = most;
          least = f;
        }
      }
      rates[least] = level;
    }
    return rates;
  }

  const machine::Paths& paths_;
  std::vector<Link> links_;
  std::vector<Flow> flows_;
  MaxMin filling_;
};

// Flows begin and end and links change. Ends may differ by a share `near` of their time. Where NICs
// are serial no two flows have an end in common, and no link changes.
template <class Anew>
void expect_same_ends(std::uint32_t seed, int steps, double near,
                      machine::NicDiscipline nic = machine::NicDiscipline::kFair) {
  const bool serial = nic == machine::NicDiscipline::kSerial;
  const sched::Schedule schedule = all_channels();
  Dice dice(seed);
  const Wiring wiring = random_wiring(dice, serial);
  const machine::Paths paths(schedule, wiring, {});
  FlowShares kept(paths, wiring, nic);
  Anew anew(paths, wiring);
  double now_s = 0;
  std::uint32_t started = 0;
  std::map<OpId, PathId> under_way;
  for (int step = 0; step < steps; ++step) {
    for (std::uint32_t n = dice.below(4); n != 0; --n) {
      const PathId path(dice.below(static_cast<std::uint32_t>(paths.size())));
      const bool waits = serial && std::ranges::any_of(under_way, [&](const auto& flow) {
                           const machine::Path& other = paths[flow.second];
                           return other.src == paths[path].src || other.dst == paths[path].dst;
                         });
      if (waits) continue;
      under_way[OpId(started)] = path;
      // Few sizes, so that many end at once.
      const std::uint64_t bytes = dice.one_in(2) ? 65'536 : 1 + dice.below(100'000);
      kept.start(now_s, path, bytes, OpId(started));
      anew.start(now_s, path, bytes, OpId(started++));
    }
    if (!serial && dice.one_in(6)) {
      const LinkId link(dice.below(static_cast<std::uint32_t>(wiring.links().size() - 1)));
      const double bytes_per_s = random_rate(dice).bytes_per_second();
      kept.set_rate(link, bytes_per_s);
      anew.set_rate(link, bytes_per_s);
    }
    kept.settle(now_s);
    anew.settle(now_s);
    const std::string what = "seed " + std::to_string(seed) + ", step " + std::to_string(step);
    const double next_s = anew.next_end_s();
    if (next_s == FlowShares::kNever) {
      ASSERT_EQ(kept.next_end_s(), next_s) << what;
      continue;
    }
    ASSERT_NEAR(kept.next_end_s(), next_s, near * next_s) << what;
    if (dice.one_in(3)) {  // something else happens in between
      now_s += (next_s - now_s) / 2;
      continue;
    }
    now_s = next_s;
    std::vector<OpId> ended;
    kept.take_ended(now_s * (1 + near), true, [&](OpId op, double end_s) {
      EXPECT_NEAR(end_s, now_s, near * now_s) << what;
      ended.push_back(op);
      under_way.erase(op);
    });
    std::sort(ended.begin(), ended.end());
    ASSERT_EQ(ended, anew.take_ended(now_s * (1 + near))) << what;
  }
}

TEST(FlowShares, EndAsIfAllRatesWereFilledAnewBitByBit) {
  for (std::uint32_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    expect_same_ends<AnewShares<double, By::kFilling>>(seed, 100, 0);
  }
}

// Of links that serial NICs cannot fill nothing is kept.
TEST(FlowShares, OfSerialNicsEndAsIfAllLinksWereKept) {
  for (std::uint32_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    expect_same_ends<AnewShares<double, By::kFilling>>(seed, 100, 0,
                                                       machine::NicDiscipline::kSerial);
  }
}

TEST(FlowShares, EndWhenTheDefinitionOfMaxMinFairnessSays) {
  for (std::uint32_t seed = 0; seed < 500 && !HasFailure(); ++seed) {
    expect_same_ends<AnewShares<long double, By::kDefinition>>(seed, 30, 1e-12);
  }
}

// A hundred thousand flows over a link that is never idle: no error adds up.
TEST(FlowShares, DoNotDrift) {
  const sched::Schedule schedule = all_channels();
  std::vector<Wiring::FixedRoute> routes;
  for (std::uint32_t s = 0; s < kRanks; ++s) {
    for (std::uint32_t d = 0; d < kRanks; ++d) {
      machine::Route route;
      route.links = {LinkId(s), LinkId(kRanks)};
      routes.push_back({RankId(s), RankId(d), route});
    }
  }
  std::vector<machine::Link> links;
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    links.push_back({"nic-" + std::to_string(r), {(7 + r) * 1'000'000'001ull}});
  }
  links.push_back({"uplink", {20'000'000'000}});
  const Wiring wiring(std::vector<std::string>(kRanks, "host"), links, std::move(routes));
  const machine::Paths paths(schedule, wiring, {});
  FlowShares shares(paths, wiring);
  const auto ways = static_cast<std::uint32_t>(paths.size());
  constexpr std::uint32_t kFlows = 100'000;
  constexpr std::uint64_t kBytes = 125'000;
  double now_s = 0;
  std::uint32_t started = 0;
  for (; started < 32; ++started) {
    shares.start(now_s, PathId(started % ways), kBytes, OpId(started));
  }
  for (;;) {
    shares.settle(now_s);
    const double next_s = shares.next_end_s();
    if (next_s == FlowShares::kNever) break;
    now_s = next_s;
    std::uint32_t ended = 0;
    shares.take_ended(now_s, true, [&](OpId, double) { ++ended; });
    for (; ended != 0 && started < kFlows; --ended, ++started) {
      shares.start(now_s, PathId(started * 7 % ways), kBytes, OpId(started));
    }
  }
  // The uplink is full until few are left, which no longer fill it.
  const double all_s = kFlows * (kBytes * 8 / 20e9);
  EXPECT_GE(now_s, all_s * (1 - 1e-12));
  EXPECT_LE(now_s, all_s + 2 * kBytes * 8 / 7e9);
}

}  // namespace
}  // namespace slackline::analysis
