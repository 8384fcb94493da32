// Dice things to run: schedules that finish, by construction, platforms and delay plans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "machine/delay_plan.h"
#include "machine/platform.h"
#include "sched/schedule.h"
#include "tests/unit/analysis/program.h"

namespace slackline::testing {

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(engine_() % n); }
  bool one_in(std::uint32_t n) { return below(n) == 0; }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + below(static_cast<std::uint32_t>(choices.size())));
  }

 private:
  std::mt19937 engine_;  // the same numbers everywhere, other than the standard's distributions
};

/// Any figure may be zero; large and small messages occur at every `interleave_bytes`.
inline machine::Platform random_platform(Dice& random, machine::NicDiscipline nic) {
  machine::Platform p;
  p.nic = nic;
  p.rate = {random.pick<std::uint64_t>({10, 40, 100}) * 1'000'000'000};
  p.latency = sched::Time{random.pick({0, 700'000, 1'500'000})};
  p.o_post = sched::Time{random.pick({0, 150'000, 400'000})};
  p.o_complete = sched::Time{random.pick({0, 200'000, 650'000})};
  p.gap = sched::Time{random.pick({0, 50'000, 900'000})};
  p.atomic_service = sched::Time{random.pick({0, 250'000, 1'100'000})};
  p.copy_rate = {random.pick<std::uint64_t>({30, 64, 200}) * 1'000'000'000};
  p.interleave_bytes = random.pick<std::uint64_t>({4'096, 4'096, 0, 20'000});
  // A third has packets and a line code. Nothing is drawn for it: seeds keep their samples.
  if (p.gap.count() == 50'000) p.framing = {1'500, 90, 8, 10};
  return p;
}

/// Of at least 32 hosts; what is between switches has less than the NICs together.
inline machine::Topology random_topology(Dice& dice) {
  switch (dice.below(5)) {
    case 0:
      return machine::parse_platform_spec("two-level:racks=4,hosts=8,oversubscription=4").topology;
    case 1:
      return machine::parse_platform_spec("torus:dims=4x4x2").topology;
    case 2:
      return machine::parse_platform_spec("fat-tree:down=8x4,up=1x2").topology;
    case 3:
      return machine::parse_platform_spec("dragonfly:groups=4,chassis=2,routers=2,hosts=2")
          .topology;
    default:
      return {};
  }
}

/// Gives a topology of several ways any of its routings, by the seed alone: samples stay what they
/// are but for the ways.
inline void vary_routing(machine::Topology& topology, std::uint32_t seed) {
  using Kind = machine::Routing::Kind;
  if (topology.kind() == machine::TopologyKind::kStar ||
      topology.kind() == machine::TopologyKind::kTwoLevel) {
    return;
  }
  constexpr Kind kKinds[] = {Kind::kOwn, Kind::kEcmp, Kind::kValiant, Kind::kSpray};
  topology.routing = {kKinds[seed / 5 % 4], seed};
  if (topology.routing.kind == Kind::kOwn || topology.routing.kind == Kind::kSpray) {
    topology.routing.seed = 0;
  }
}

/// Up to eight ranks a machine; any figure may be zero.
inline void random_node(Dice& random, machine::Platform& p) {
  p.node.ranks = 1 + random.below(8);
  p.node.zones = 1 + random.below(3);
  p.node.memory_latency = sched::Time{random.pick({0, 100'000, 350'000})};
  p.node.zone_latency = sched::Time{random.pick({0, 80'000})};
  p.node.cpu_atomic = sched::Time{random.pick({0, 30'000})};
  p.node.cpu_atomic_sharer = sched::Time{random.pick({0, 20'000})};
  p.atomic_service_shared = sched::Time{random.pick({0, 600'000})};
  p.nic_read = sched::Time{random.pick({0, 500'000})};
  // Some have a network within, and hosts that differ. Nothing is drawn for it either.
  if (p.node.is_shared() && p.node.zones == 2 && p.node.memory_latency.count() != 100'000) {
    p.node.scale_up = {{3 * p.rate.bits_per_second}, sched::Time{240'000}};
    if (p.nic_read.count() == 0) {
      p.hosts.scale_up_rate.runs = {{1, 2, {2 * p.rate.bits_per_second}}};
    }
  }
  if (p.node.zones == 3 && p.node.zone_latency.count() == 0) {
    p.hosts.rate.runs = {{0, 0, {p.rate.bits_per_second / 2}},
                         {2, 5, {p.rate.bits_per_second / 4}}};
    p.hosts.latency.runs = {{1, 2, sched::Time{330'000}}};
  }
}

/// A network within a node is refused where nobody shares it.
inline void drop_lonely_scale_up(machine::Platform& p) {
  if (p.node.is_shared()) return;
  p.node.scale_up = {};
  p.hosts.scale_up_rate = {};
}

/// Threads that share what their processes have, and NICs in one of the zones: of a node as above.
inline void random_sharing(Dice& random, machine::Platform& p) {
  p.node.threads_per_qp = 1 + random.below(3);
  p.node.threads = p.node.threads_per_qp * (1 + random.below(2));
  p.node.ranks = p.node.threads * (1 + random.below(2));
  drop_lonely_scale_up(p);
  p.node.qp_sharer = sched::Time{random.pick({0, 130'000, 450'000})};
  p.node.update_sharer = sched::Time{random.pick({0, 41'000, 300'000})};
  p.node.numa_hop = sched::Time{random.pick({0, 60'000, 700'000})};
}

/// Threads have a lock for their queue pairs, in place of a fixed time. Nothing is drawn for it.
inline void lock_pairs(machine::Platform& p) {
  p.node.qp_sharer = {};
  p.node.qp_lock = p.o_post / 2;
}

/// Two to four NICs a host, on the leaf switches of a network that takes them, or on one switch.
/// What is between switches may be narrow.
inline void random_rails(Dice& random, machine::Platform& p, bool may_share) {
  machine::Rails& rails = p.node.rails;
  rails.count = 2 + random.below(3);
  rails.rule = random.pick(
      {machine::RailRule::kRank, machine::RailRule::kChannel, machine::RailRule::kPair});
  p.topology = {};
  if (!may_share) return;
  const bool optimized = random.one_in(2);
  switch (random.below(4)) {
    case 0:
      p.topology =
          machine::parse_platform_spec("two-level:racks=4,hosts=8,oversubscription=4").topology;
      break;
    case 1:
      rails.count = random.pick({2, 4});
      p.topology = machine::parse_platform_spec("fat-tree:down=8x16,up=1x4").topology;
      break;
    case 2:
      p.topology =
          machine::parse_platform_spec("dragonfly:groups=4,chassis=2,routers=2,hosts=2").topology;
      return;
    default:
      return;
  }
  if (optimized) rails.wiring = machine::RailWiring::kOptimized;
}

/// A spec of `pattern` with random options: up to `max_ranks` ranks and `max_blocks` blocks.
inline std::string random_spec(Dice& random, std::string_view pattern, std::uint32_t max_ranks,
                               std::uint32_t max_blocks) {
  const std::uint64_t block = 1 + random.below(100'000);
  const std::uint64_t blocks = 1 + random.below(max_blocks);
  const std::uint64_t last = 1 + random.below(static_cast<std::uint32_t>(block));
  const std::uint64_t bytes = random.one_in(8) ? 0 : block * (blocks - 1) + last;
  const std::uint32_t ranks = 1 + random.below(max_ranks);
  return std::string(pattern) + ":ranks=" + std::to_string(ranks) +
         ",bytes=" + std::to_string(bytes) + ",block=" + std::to_string(block) +
         ",root=" + std::to_string(random.below(ranks)) +
         ",window=" + random.pick<std::string>({"1", "2", "5"}) +
         ",ready=" + random.pick<std::string>({"send", "write", "none"}) +
         ",start=" + random.pick<std::string>({"pairwise", "all"}) +
         ",in-flight=" + random.pick<std::string>({"0", "1", "2"}) +
         ",lower=" + random.pick<std::string>({"send", "put"}) +
         ",first-block=" + random.pick<std::string>({"direct", "copy"});
}

/// Up to three operations delayed, and now and then a slow pair.
inline machine::DelayPlan random_delays(Dice& random, const sched::Schedule& schedule) {
  machine::DelayPlan plan;
  const std::uint32_t ops = schedule.op_count();
  for (std::uint32_t i = random.below(4); ops != 0 && i != 0; --i) {
    const OpId op(random.below(ops));
    plan.ops.push_back(
        {op, sched::Time{random.below(50'000'000)}, random.one_in(2), RankId::none()});
  }
  if (schedule.rank_count() > 1 && random.one_in(2)) {
    const std::uint32_t src = random.below(schedule.rank_count());
    plan.pairs.push_back({RankId(src), RankId((src + 1) % schedule.rank_count()), {7'300'000'000}});
  }
  if (random.one_in(3)) {
    const double slowdown = 1 + random.below(8) / 4.0;
    plan.stragglers.push_back({RankId(random.below(schedule.rank_count())), slowdown,
                               sched::Time{random.below(1'000'000)}});
  }
  if (random.one_in(3)) {
    machine::Noise noise;
    noise.of.kind = machine::Distribution::Kind::kExponential;
    noise.of.mean = sched::Time{random.below(5'000'000)};
    noise.chance.value = random.below(1'000'000);
    noise.whole_lane = random.one_in(2);
    plan.noise.push_back(std::move(noise));
    plan.seed = random.below(1'000);
  }
  return plan;
}

/// Operations of every kind in one global order. Edges and channels keep that order, so that there
/// is no deadlock. Every message meets its receive or poll.
class RandomSchedule {
 public:
  RandomSchedule(Dice& random, std::uint32_t max_ranks, std::uint32_t max_parts)
      : random_(random),
        ranks_(1 + random.below(max_ranks)),
        program_(ranks_),
        of_rank_(ranks_),
        lanes_(random.pick<std::uint16_t>({1, 1, 2, 3})) {
    for (std::uint32_t i = 1 + random.below(max_parts); i != 0; --i) add_part();
  }

  sched::Schedule build() { return program_.build(); }

 private:
  std::uint16_t lane() { return static_cast<std::uint16_t>(random_.below(lanes_)); }
  std::uint32_t rank() { return random_.below(ranks_); }
  std::uint64_t bytes() {
    const std::uint64_t any = random_.below(60'000);
    return random_.pick<std::uint64_t>({0, 0, 8, 700, 4'096, 4'097, 30'000, any});
  }
  sched::Time duration() { return sched::Time{random_.pick({0, 1, 700, 5'000}) * 1'000}; }

  // Up to two channels of each service join a pair of ranks.
  ChannelId channel(std::uint32_t src, std::uint32_t dst, sched::Service service) {
    const std::tuple key{src, dst, service, random_.below(2)};
    const auto found = channels_.find(key);
    if (found != channels_.end()) return found->second;
    return channels_[key] = program_.channel(src, dst, service);
  }

  void follow(std::uint32_t rank, OpId op) {
    std::vector<OpId>& before = of_rank_[rank];
    for (std::uint32_t i = random_.below(3); i != 0 && !before.empty(); --i) {
      const auto among = static_cast<std::uint32_t>(before.size());
      // Mostly what came just before, so that chains grow long.
      const std::uint32_t back = random_.one_in(3) ? random_.below(among) : 0;
      program_.after({before[among - 1 - back]}, op,
                     random_.one_in(3) ? sched::On::kIssued : sched::On::kDone);
    }
    before.push_back(op);
  }

  void add_part() {
    const std::uint32_t a = rank();
    const std::uint32_t b = rank();
    const std::uint32_t kind = random_.below(14);
    const bool reliable = kind != 13;
    const ChannelId c = channel(a, b,
                                reliable           ? sched::Service::kReliable
                                : (a + b) % 2 == 0 ? sched::Service::kDatagram
                                                   : sched::Service::kEager);
    switch (kind) {
      case 0:
        return follow(a, program_.put(c, bytes(), sched::Notify::kNone, lane()));
      case 1: {
        const OpId put = program_.put(c, bytes(), sched::Notify::kImm, lane());
        return pair(a, put, b, program_.recv(c, 0, lane()));
      }
      case 2: {
        const OpId put =
            program_.put(c, std::max<std::uint64_t>(1, bytes()), sched::Notify::kFlag, lane());
        const OpId poll = program_.poll(b);
        program_.flag(put, poll);
        return pair(a, put, b, poll);
      }
      case 3:
        return follow(a, program_.get(c, bytes(), lane()));
      case 4:
      case 5:
        return follow(a, program_.fetch_add(c, random_.below(2), lane()));
      case 6:
        return follow(a, random_.one_in(2) ? program_.copy(a, 1 + bytes(), lane())
                                           : program_.reduce(a, 1 + bytes(), lane()));
      case 7:
        return follow(a, program_.calc(a, duration(), lane()));
      case 8:
        return follow(a, random_.one_in(2) ? program_.delay(a, duration()) : program_.join(a));
      default: {
        const std::uint64_t size = bytes();
        const OpId send = program_.send(c, size, lane());
        return pair(a, send, b, program_.recv(c, size, lane()));
      }
    }
  }
  void pair(std::uint32_t a, OpId source, std::uint32_t b, OpId target) {
    // A receive must not follow its own message, or it would not be posted before it arrives.
    const std::size_t before = of_rank_[b].size();
    follow(b, target);
    if (a == b) of_rank_[b].resize(before);
    follow(a, source);
    if (a == b) of_rank_[b].push_back(target);
  }

  Dice& random_;
  std::uint32_t ranks_;
  Program program_;
  std::vector<std::vector<OpId>> of_rank_;
  std::uint16_t lanes_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, sched::Service, std::uint32_t>, ChannelId>
      channels_;
};

/// Every other time nothing is delayed.
inline machine::DelayPlan maybe_delays(Dice& dice, const sched::Schedule& schedule) {
  return dice.one_in(2) ? machine::DelayPlan{} : random_delays(dice, schedule);
}

/// What a failure names.
inline std::string sample_text(std::uint32_t seed, const machine::Platform& platform,
                               const machine::DelayPlan& plan = {}) {
  return "seed " + std::to_string(seed) + " on " + platform.spec() + "\n" + plan.text();
}

}  // namespace slackline::testing
