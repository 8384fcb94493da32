#include "machine/platform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"

namespace slackline::machine {
namespace {

using slackline::testing::error_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A file in a folder of its own, removed at the end.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text)
      : path_(folder_.write(name, text)) {}
  const std::string& path() const { return path_; }
  std::string folder() const { return folder_.path().string(); }

 private:
  const slackline::testing::TempFolder folder_;
  const std::string path_;
};

// Any topology and placement. (No rack of the two-level one is left without a rate.)
void random_network(std::mt19937_64& random, Platform& platform) {
  const auto few = [&] { return static_cast<std::uint32_t>(1 + random() % 6); };
  const auto maybe_rate = [&] {
    return random() % 2 == 0 ? Rate{} : Rate{1 + (random() >> (30 + random() % 30))};
  };
  Topology& topology = platform.topology;
  switch (static_cast<TopologyKind>(random() % std::variant_size_v<Shape>)) {
    case TopologyKind::kStar:
      break;
    case TopologyKind::kTwoLevel: {
      TwoLevel shape{few(), few()};
      shape.uplink = maybe_rate();
      platform.rate.bits_per_second >>= 4;
      platform.rate.bits_per_second += 1000;
      if (shape.uplink == Rate{}) {
        shape.oversubscription = 0.125 + static_cast<double>(random() >> 11) * 0x1p-49;
      }
      topology.shape = shape;
      break;
    }
    case TopologyKind::kFatTree:
      topology.shape = random() % 2 == 0
                           ? FatTree{{few(), few(), few()}, {1, few(), few()}, {1, few(), few()}}
                           : k_ary_fat_tree(2 * few());
      break;
    case TopologyKind::kDragonfly: {
      const std::uint32_t groups = few();
      topology.shape = Dragonfly{groups, groups, few(),        few(),        few(),
                                 few(),  few(),  maybe_rate(), maybe_rate(), maybe_rate()};
      platform.rate.bits_per_second = (platform.rate.bits_per_second >> 4) + 1;
      break;
    }
    case TopologyKind::kTorus:
      topology.shape = Torus{{few(), few(), few(), few()}};
      break;
    case TopologyKind::kSimgridFile:
      topology.shape = SimgridFile{"a folder/net=1:2.xml"};
      // The file's, whatever stands here.
      platform.rate = Platform{}.rate;
      platform.latency = Platform{}.latency;
      break;
  }
  const auto kind = topology.kind();
  if (kind == TopologyKind::kFatTree || kind == TopologyKind::kDragonfly ||
      kind == TopologyKind::kTorus) {
    topology.link_rate = maybe_rate();
  }
  if (kind != TopologyKind::kStar && kind != TopologyKind::kSimgridFile) {
    topology.hop_latency = Time{static_cast<std::int64_t>(random() >> (1 + random() % 63))};
  }
  switch (random() % 4) {
    case 0:
      break;
    case 1:
      platform.placement.kind = Placement::Kind::kRoundRobin;
      break;
    case 2:
      platform.placement = {Placement::Kind::kRandom, random(), ""};
      break;
    case 3:
      platform.placement = {Placement::Kind::kFile, 0, "hosts:here=1.txt"};
      break;
  }
}

Platform random_platform(std::mt19937_64& random) {
  const auto time = [&] {
    // Every magnitude, and 0.
    return Time{static_cast<std::int64_t>(random() >> (1 + random() % 63))};
  };
  const auto rate = [&] { return Rate{1 + (random() >> (2 + random() % 61))}; };
  Platform platform;
  platform.nic = random() % 2 == 0 ? NicDiscipline::kSerial : NicDiscipline::kFair;
  platform.rate = rate();
  platform.latency = time();
  platform.o_post = time();
  platform.o_complete = time();
  platform.gap = time();
  platform.atomic_service = time();
  platform.copy_rate = rate();
  platform.poll_cost = time();
  platform.interrupt_cost = time();
  platform.interleave_bytes = random() >> (1 + random() % 63);
  random_network(random, platform);
  const auto maybe_time = [&] { return random() % 2 == 0 ? Time{0} : time(); };
  platform.atomic_service_shared = maybe_time();
  platform.nic_read = maybe_time();
  if (random() % 2 == 0) {
    platform.service_thread = true;
    platform.switch_cost = maybe_time();
  }
  if (random() % 2 == 0) platform.framing = {random() % 9'000, 66, 32, 33};
  const bool takes_pcie = platform.nic == NicDiscipline::kSerial &&
                          platform.topology.kind() != TopologyKind::kSimgridFile;
  if (takes_pcie && random() % 2 == 0) platform.pcie = {rate(), random() % 4'097, 24};
  if (random() % 2 == 0) return platform;
  platform.node.threads = static_cast<std::uint32_t>(1 + random() % 8);
  platform.node.ranks = platform.node.threads * static_cast<std::uint32_t>(1 + random() % 8);
  platform.node.zones = static_cast<std::uint32_t>(1 + random() % 8);
  platform.node.memory_latency = maybe_time();
  platform.node.zone_latency = maybe_time();
  platform.node.cpu_atomic = maybe_time();
  platform.node.cpu_atomic_sharer = maybe_time();
  if (random() % 2 == 0) platform.node.threads_per_qp = platform.node.threads;
  platform.node.qp_sharer = maybe_time();
  platform.node.update_sharer = maybe_time();
  if (platform.topology.kind() != TopologyKind::kSimgridFile) {
    platform.node.numa_hop = maybe_time();
  }
  platform.node.own_in_memory = random() % 2 == 0;
  return platform;
}

bool same_figures(const Platform& a, const Platform& b) {
  return a.topology == b.topology && a.placement == b.placement && a.nic == b.nic &&
         a.rate == b.rate && a.latency == b.latency && a.o_post == b.o_post &&
         a.o_complete == b.o_complete && a.gap == b.gap && a.atomic_service == b.atomic_service &&
         a.copy_rate == b.copy_rate && a.poll_cost == b.poll_cost &&
         a.interrupt_cost == b.interrupt_cost && a.interleave_bytes == b.interleave_bytes &&
         a.atomic_service_shared == b.atomic_service_shared && a.nic_read == b.nic_read &&
         a.service_thread == b.service_thread && a.switch_cost == b.switch_cost &&
         a.framing == b.framing && a.pcie == b.pcie && a.node == b.node;
}

TEST(PlatformSpec, StatesEveryFigureInAFixedOrder) {
  EXPECT_EQ(Platform{}.spec(),
            "star:nic=serial,rate=100Gbps,latency=1us,o_post=0,o_complete=0,gap=0,"
            "atomic_service=0,copy_rate=80Gbps,poll_cost=0,interrupt_cost=0,interleave=4KiB");
}

TEST(PlatformSpec, ReadsKeysInAnyOrderAndDefaultsTheRest) {
  EXPECT_EQ(parse_platform_spec("star").spec(), Platform{}.spec());
  const Platform platform =
      parse_platform_spec("star:o_post=300ns,interleave=0,rate=5GBps,nic=fair");
  Platform expected;
  expected.o_post = Time{300'000};
  expected.interleave_bytes = 0;
  expected.rate = Rate{40'000'000'000};
  expected.nic = NicDiscipline::kFair;
  EXPECT_TRUE(same_figures(platform, expected)) << platform.spec();
  EXPECT_EQ(platform.name, "star:o_post=300ns,interleave=0,rate=5GBps,nic=fair");
}

TEST(PlatformSpec, StatesWhatNodesOfSeveralRanksAre) {
  const Platform platform = parse_platform_spec(
      "star:ranks-per-node=32,threads_per_process=4,zones_per_node=2,memory_latency=90ns,"
      "zone_latency=60ns,cpu-atomic=20ns,cpu_atomic_sharer=5ns,atomic_service_shared=1us,"
      "nic_read=500ns,placement=random:7");
  EXPECT_THAT(platform.spec(),
              ::testing::EndsWith(
                  ",interleave=4KiB,atomic_service_shared=1us,nic_read=500ns,ranks_per_node=32,"
                  "threads_per_process=4,zones_per_node=2,memory_latency=90ns,zone_latency=60ns,"
                  "cpu_atomic=20ns,cpu_atomic_sharer=5ns,placement=random:7"));
  EXPECT_EQ(platform_from_toml(
                "[nic]\natomic_service_shared = \"1us\"\nnic_read = \"500ns\"\n"
                "[node]\nranks = 32\nthreads_per_process = 4\nzones = 2\n"
                "memory_latency = \"90ns\"\nzone_latency = \"60ns\"\ncpu_atomic = \"20ns\"\n"
                "cpu_atomic_sharer = \"5ns\"\n[network]\nplacement = \"random:7\"\n",
                "p.toml")
                .spec(),
            platform.spec());
  const auto error = [](const std::string& text) {
    return error_of([&] { parse_platform_spec(text); });
  };
  EXPECT_EQ(error("star:ranks_per_node=6,threads-per-process=4"),
            "platform 'star:ranks_per_node=6,threads-per-process=4': threads_per_process is 4; "
            "expected a divisor of ranks_per_node, 6");
  EXPECT_THAT(error("star:ranks_per_node=0"),
              HasSubstr("'0' is not a whole number from 1 to 65536"));
  EXPECT_THAT(error("star:zones_per_node=65537"), HasSubstr("from 1 to 65536"));
  EXPECT_THAT(error("star:ranks_per_node=2,ranks-per-node=2"), HasSubstr("stands twice"));
  EXPECT_THAT(error("star:cpu_atomic=1"), HasSubstr("cpu_atomic"));
  EXPECT_THAT(error("star:own_messages=wire"),
              HasSubstr("own_messages: 'wire'; expected nic or memory"));
  EXPECT_THAT(
      error("star:ranks=2"),
      HasSubstr("unknown key 'ranks': did you mean 'rails'?; expected one that `slackline list "
                "figures star` shows"));
  EXPECT_THAT(error_of([&] { platform_from_toml("[node]\nrank = 2\n", "p.toml"); }),
              StartsWith("p.toml:2"));
}

TEST(PlatformSpec, StatesWhatThreadsShare) {
  const std::string what =
      "ranks_per_node=8,threads_per_process=4,threads_per_qp=2,qp_sharer=100ns,update_sharer=41ns,"
      "numa_hop=60ns";
  const Platform platform = parse_platform_spec("star:" + what);
  EXPECT_THAT(platform.spec(),
              ::testing::EndsWith(",interleave=4KiB,ranks_per_node=8,threads_per_process=4,"
                                  "threads_per_qp=2,qp_sharer=100ns,update_sharer=41ns,"
                                  "numa_hop=60ns"));
  EXPECT_EQ(platform_from_toml("[node]\nranks = 8\nthreads_per_process = 4\nthreads_per_qp = 2\n"
                               "qp_sharer = \"100ns\"\nupdate_sharer = \"41ns\"\n"
                               "numa_hop = \"60ns\"\n[network]\ntopology = \"star\"\n",
                               "p.toml")
                .spec(),
            platform.spec());
  const auto error = [](const std::string& text) {
    return error_of([&] { parse_platform_spec(text); });
  };
  EXPECT_EQ(error("star:ranks_per_node=6,threads_per_process=6,threads_per_qp=4"),
            "platform 'star:ranks_per_node=6,threads_per_process=6,threads_per_qp=4': "
            "threads_per_qp is 4; expected a divisor of threads_per_process, 6");
  EXPECT_THAT(error("simgrid:file=net.xml,numa_hop=1us"),
              HasSubstr("simgrid takes no key 'numa_hop'"));
}

TEST(PlatformSpec, StatesALockThatIsPartOfAPost) {
  const Platform platform = parse_platform_spec("star:o_post=100ns,qp_lock=100ns");
  EXPECT_THAT(platform.spec(), ::testing::EndsWith(",interleave=4KiB,qp_lock=100ns"));
  EXPECT_EQ(platform_from_toml("[cpu]\no_post = \"100ns\"\n[node]\nqp_lock = \"100ns\"\n"
                               "[network]\ntopology = \"star\"\n",
                               "p.toml")
                .spec(),
            platform.spec());
  const auto error = [](const std::string& text) {
    return error_of([&] { parse_platform_spec(text); });
  };
  EXPECT_EQ(error("star:o_post=100ns,qp_lock=101ns"),
            "platform 'star:o_post=100ns,qp_lock=101ns': qp_lock is 101ns, and o_post 100ns; "
            "expected a lock that is held for a part of the post");
  EXPECT_EQ(error("star:o_post=100ns,qp_lock=80ns,qp_sharer=1ns"),
            "platform 'star:o_post=100ns,qp_lock=80ns,qp_sharer=1ns': qp_lock and qp_sharer, which "
            "stand for the same wait; expected one of them");
}

TEST(PlatformSpec, StatesWhatPacketsAndLinesAdd) {
  const Platform platform =
      parse_platform_spec("star:rate=56Gbps,mtu=4KiB,packet-overhead=66B,coding=64/66");
  EXPECT_THAT(platform.spec(),
              ::testing::EndsWith(",interleave=4KiB,mtu=4KiB,packet_overhead=66,coding=32/33"));
  EXPECT_EQ(platform_from_toml("[nic]\nrate = \"56Gbps\"\n[network]\nmtu = \"4KiB\"\n"
                               "packet_overhead = \"66B\"\ncoding = \"64/66\"\n",
                               "p.toml")
                .spec(),
            platform.spec());
  EXPECT_EQ(parse_platform_spec("star:coding=5/5,packet_overhead=0,mtu=0").spec(),
            Platform{}.spec());
  const auto error = [](const std::string& text) {
    return error_of([&] { parse_platform_spec(text); });
  };
  EXPECT_THAT(error("star:coding=0.9"), HasSubstr("coding: '0.9' is no coding; expected payload"));
  EXPECT_THAT(error("star:coding=66/64"), HasSubstr("from 1 to 64"));
  EXPECT_THAT(error("star:coding=0/64"), HasSubstr("from 1 to 64"));
  EXPECT_THAT(error("star:coding=1/65536"), HasSubstr("from 1 to 65535"));
  EXPECT_THAT(error("star:mtu=5GiB"), HasSubstr("mtu: '5GiB'; expected at most 4GiB"));
  EXPECT_THAT(error("star:packet_overhead=64KiB"), HasSubstr("expected at most 65535"));
}

TEST(PlatformSpec, StatesWhatPcieTakes) {
  const Platform platform = parse_platform_spec(
      "star:rate=56Gbps,pcie-rate=63Gbps,pcie_payload=256B,pcie_header=24B,coding=64/66");
  EXPECT_THAT(
      platform.spec(),
      ::testing::EndsWith(
          ",interleave=4KiB,coding=32/33,pcie_rate=63Gbps,pcie_payload=256,pcie_header=24"));
  EXPECT_EQ(platform_from_toml("[nic]\nrate = \"56Gbps\"\npcie_rate = \"63Gbps\"\n"
                               "pcie_payload = \"256B\"\npcie_header = \"24B\"\n"
                               "[network]\ncoding = \"64/66\"\n",
                               "p.toml")
                .spec(),
            platform.spec());
  const auto error = [](const std::string& text) {
    return error_of([&] { parse_platform_spec(text); });
  };
  EXPECT_THAT(error("star:pcie_rate=0Gbps"), HasSubstr("pcie_rate: '0Gbps' is not a rate"));
  EXPECT_THAT(error("star:pcie_rate=1Gbps,pcie_payload=8KiB"),
              HasSubstr("pcie_payload: '8KiB'; expected at most 4KiB"));
  EXPECT_THAT(error("star:pcie_rate=1Gbps,pcie_header=64KiB"), HasSubstr("expected at most 65535"));
  EXPECT_THAT(error("star:pcie_payload=256B"),
              HasSubstr("pcie_payload without pcie_rate; expected both"));
  EXPECT_THAT(error("star:pcie_header=24B"),
              HasSubstr("pcie_header without pcie_rate; expected both"));
  EXPECT_THROW(parse_platform_spec("star:pcie_rate=1Gbps,nic=fair"), Unsupported);
  EXPECT_THAT(error("simgrid:file=net.xml,pcie_rate=1Gbps"),
              HasSubstr("simgrid takes no key 'pcie_rate'"));
}

TEST(PlatformSpec, StatesWhoSeesCompletions) {
  const Platform platform = parse_platform_spec("star:switch-cost=2us,completions=service");
  EXPECT_TRUE(platform.service_thread);
  EXPECT_THAT(platform.spec(),
              ::testing::EndsWith(",interleave=4KiB,completions=service,switch_cost=2us"));
  EXPECT_EQ(
      platform_from_toml("[cpu]\ncompletions = \"service\"\nswitch_cost = \"2us\"\n", "p.toml")
          .spec(),
      platform.spec());
  EXPECT_EQ(parse_platform_spec("star:completions=program").spec(), Platform{}.spec());
  const auto error = [](const std::string& text) {
    return error_of([&] { parse_platform_spec(text); });
  };
  EXPECT_THAT(error("star:completions=nobody"),
              HasSubstr("completions: 'nobody'; expected program or service"));
  EXPECT_THAT(error("star:switch_cost=2us"),
              HasSubstr("switch_cost without completions=service; expected both"));
}

TEST(PlatformSpec, TextAndPlatformDetermineEachOther) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Platform platform = random_platform(random);
    const std::string text = platform.spec();
    const Platform back = parse_platform_spec(text);
    ASSERT_TRUE(same_figures(platform, back)) << text << "\n" << back.spec();
    ASSERT_EQ(back.spec(), text);
  }
}

TEST(PlatformSpec, NoTwoPlatformsShareAText) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    const Platform base = random_platform(random);
    std::set<std::string> texts = {base.spec()};
    const auto with = [&](auto change) {
      Platform other = base;
      change(other);
      texts.insert(other.spec());
    };
    with([](Platform& p) {
      p.nic = p.nic == NicDiscipline::kFair ? NicDiscipline::kSerial : NicDiscipline::kFair;
    });
    with([](Platform& p) { p.rate.bits_per_second += 1; });
    with([](Platform& p) { p.latency += Time{1}; });
    with([](Platform& p) { p.o_post += Time{1}; });
    with([](Platform& p) { p.o_complete += Time{1}; });
    with([](Platform& p) { p.gap += Time{1}; });
    with([](Platform& p) { p.atomic_service += Time{1}; });
    with([](Platform& p) { p.copy_rate.bits_per_second += 1; });
    with([](Platform& p) { p.poll_cost += Time{1}; });
    with([](Platform& p) { p.interrupt_cost += Time{1}; });
    with([](Platform& p) { p.interleave_bytes += 1; });
    with([](Platform& p) { p.atomic_service_shared += Time{1}; });
    with([](Platform& p) { p.nic_read += Time{1}; });
    with([](Platform& p) { p.service_thread = !p.service_thread; });
    with([](Platform& p) { p.switch_cost += Time{1}; });
    with([](Platform& p) { p.pcie.rate.bits_per_second += 1; });
    with([](Platform& p) { p.pcie.payload_bytes += 1; });
    with([](Platform& p) { p.pcie.header_bytes += 1; });
    with([](Platform& p) { p.node.ranks += p.node.threads; });
    with([](Platform& p) { p.node.ranks *= p.node.threads += 1; });
    with([](Platform& p) { p.node.zones += 1; });
    with([](Platform& p) { p.node.memory_latency += Time{1}; });
    with([](Platform& p) { p.node.zone_latency += Time{1}; });
    with([](Platform& p) { p.node.cpu_atomic += Time{1}; });
    with([](Platform& p) { p.node.cpu_atomic_sharer += Time{1}; });
    with([](Platform& p) { p.node.threads_per_qp += 1; });
    with([](Platform& p) { p.node.qp_sharer += Time{1}; });
    with([](Platform& p) { p.node.qp_lock += Time{1}; });
    with([](Platform& p) { p.node.update_sharer += Time{1}; });
    with([](Platform& p) { p.node.numa_hop += Time{1}; });
    with([](Platform& p) { p.node.own_in_memory = !p.node.own_in_memory; });
    with([](Platform& p) { p.placement = {Placement::Kind::kRandom, ~p.placement.seed, ""}; });
    with([](Platform& p) { p.topology = {Torus{{7}}, {}, {}}; });
    with([](Platform& p) { p.topology = {Torus{{7}}, Rate{1}, {}}; });
    with([](Platform& p) { p.topology = {Torus{{7}}, {}, Time{1}}; });
    with([](Platform& p) { p.topology = {Torus{{7, 1}}, {}, {}}; });
    with([](Platform& p) { p.topology = {TwoLevel{7, 1, {}, 1}, {}, {}}; });
    with([](Platform& p) { p.topology = {TwoLevel{7, 1, {}, 1.5}, {}, {}}; });
    with([](Platform& p) { p.topology = {TwoLevel{7, 1, Rate{1}, 1}, {}, {}}; });
    with([](Platform& p) { p.topology = {FatTree{{7}, {1}, {1}}, {}, {}}; });
    with([](Platform& p) { p.topology = {FatTree{{7, 7}, {1, 1}, {1, 1}}, {}, {}}; });
    with([](Platform& p) { p.topology = {FatTree{{7, 7}, {1, 2}, {1, 1}}, {}, {}}; });
    with([](Platform& p) { p.topology = {FatTree{{7, 7}, {1, 1}, {1, 2}}, {}, {}}; });
    with([](Platform& p) { p.topology = {SimgridFile{"other.xml"}, {}, {}}; });
    const bool by_simgrid = base.topology.kind() == TopologyKind::kSimgridFile;
    ASSERT_EQ(texts.size(), by_simgrid ? 39u : 45u) << base.spec();
  }
}

TEST(PlatformSpec, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "platform '': '' is no topology; expected star"},
      {"ring", "'ring' is no topology; expected star"},
      {"ring:rate=1Gbps", "'ring' is no topology; expected star"},
      {"star:", "'' is no figure; expected key=value"},
      {"star:rate", "'rate' is no figure; expected key=value"},
      {"star:rate=1Gbps,", "'' is no figure; expected key=value"},
      {"star:speed=1Gbps", "unknown key 'speed'; expected one that `slackline list figures star`"},
      {"star:=1Gbps", "unknown key ''"},
      {"star:rate=1Gbps,rate=1Gbps", "rate stands twice; expected it once"},
      {"star:nic=fast", "nic: 'fast' is no discipline of a NIC; expected serial or fair"},
      {"star:rate=100", "rate: '100' is not a rate: expected"},
      {"star:rate=0Gbps", "rate: '0Gbps' is not a rate: expected"},
      {"star:rate=-1Gbps", "rate: '-1Gbps' is not a rate: expected"},
      {"star:copy_rate=fast", "copy_rate: 'fast' is not a rate: expected"},
      {"star:latency=1", "latency: '1' is not a time: expected"},
      {"star:latency=-1us", "latency: '-1us' is not a time: expected"},
      {"star:latency=", "latency: '' is not a time: expected"},
      {"star:gap=9223372036854775807ps", "gap: 9223372036854775807ps is too long"},
      {"star:interleave=-1", "interleave: '-1' is not a size: expected"},
      {"star:interleave=1.5", "interleave: '1.5' is not a size: expected"},
      {"star:rate=1\nGbps", "platform 'star:rate=1\\x0aGbps'"},
      {std::string("star\0", 5), "has a control character"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(error_of([&given = text] { parse_platform_spec(given); }), HasSubstr(expected));
  }
}

TEST(PlatformFile, ReadsEveryFigure) {
  const Platform platform = platform_from_toml(R"(
schema = 1
name = "mine"
summary = "what it is"
[nic]
discipline = "fair"
rate = "50Gbps"
gap = "1ns"
interleave = "2KiB"
atomic_service = "2ns"
[cpu]
o_post = "3ns"
o_complete = "4ns"
copy_rate = "1GBps"
poll_cost = "5ns"
interrupt_cost = "6ns"
[network]
topology = "star"
latency = "7ns"
)",
                                               "mine.toml");
  EXPECT_EQ(platform.name, "mine");
  EXPECT_EQ(platform.spec(),
            "star:nic=fair,rate=50Gbps,latency=7ns,o_post=3ns,o_complete=4ns,gap=1ns,"
            "atomic_service=2ns,copy_rate=8Gbps,poll_cost=5ns,interrupt_cost=6ns,interleave=2KiB");
}

TEST(PlatformFile, DefaultsWhatIsLeftOut) {
  const Platform platform = platform_from_toml("", "empty.toml");
  EXPECT_EQ(platform.name, "empty.toml");
  EXPECT_EQ(platform.spec(), Platform{}.spec());
}

TEST(PlatformFile, SaysWhatIsWrongAndWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"name = \"a\"\nname = \"b\"", "p.toml:2: "},
      {"[nic]\n[cpu]\n[nic]\n", "p.toml:3: "},
      {"[nic]\nrate = \"1Gbps\"\nrate = \"1Gbps\"", "p.toml:3: "},
      {"rate = ", "p.toml:1: "},
      {"[nic\n", "p.toml:1: "},
      {"\n\n!", "p.toml:3: "},
      {"name = \"\xff\"", "p.toml:1: "},
      {"\n[nick]\n",
       "p.toml:2: unknown key 'nick': did you mean 'nic'?; expected one of schema, name, summary, "
       "nodes, network, nic, "
       "cpu"},
      {"[nic]\n\nspeed = \"1Gbps\"",
       "p.toml:3: unknown key 'speed' in [nic]; expected one of discipline, rate,"},
      {"[network]\nrate = \"1Gbps\"", "p.toml:2: unknown key 'rate' in [network]; expected"},
      {"\nnic = 3", "p.toml:2: nic: a whole number stands here; expected a table headed [nic]"},
      {"nic = [1]", "p.toml:1: nic: an array stands here; expected a table headed [nic]"},
      {"name = 3",
       "p.toml:1: name: a whole number stands here; expected the platform's name in quotes"},
      {"[nic]\nrate = 100",
       "p.toml:2: nic.rate: a whole number stands here; expected a rate such as \"100Gbps\""},
      {"[nic]\nrate = 1.5", "p.toml:2: nic.rate: a decimal number stands here; expected"},
      {"[nic]\nrate = 2020-01-01", "p.toml:2: nic.rate: another type of value stands here"},
      {"[nic]\nrate = true", "p.toml:2: nic.rate: another type of value stands here; expected"},
      {"[nic]\nrate = []", "p.toml:2: nic.rate: an array stands here; expected"},
      {"[nic]\nrate.x = 1", "p.toml:2: nic.rate: a table stands here; expected"},
      {"[nic]\nrate = \"100\"", "p.toml:2: nic.rate: '100' is not a rate: expected"},
      {"[nic]\nrate = \"-1Gbps\"", "p.toml:2: nic.rate: '-1Gbps' is not a rate: expected"},
      {"[nic]\ndiscipline = \"fast\"", "p.toml:2: nic.discipline: 'fast' is no discipline"},
      {"[nic]\ninterleave = \"x\"", "p.toml:2: nic.interleave: 'x' is not a size: expected"},
      {"[cpu]\no_post = \"5\"", "p.toml:2: cpu.o_post: '5' is not a time: expected"},
      {"[cpu]\no_post = \"-5ns\"", "p.toml:2: cpu.o_post: '-5ns' is not a time: expected"},
      {"[cpu]\no_post = \"9223372036854775807ps\"", "p.toml:2: cpu.o_post: 9223372036854775807ps"},
      {"[network]\ntopology = \"ring\"",
       "p.toml:2: network.topology: 'ring' is no topology; expected star"},
      {"schema = 2", "p.toml:1: schema: 2 is newer than any schema this program reads; expected 1"},
      {"schema = 0", "p.toml:1: schema: 0 is no schema this program reads; expected 1"},
      {"schema = -1",
       "p.toml:1: schema: -1 stands here; expected a whole number from 0 to 4294967295"},
      {"schema = \"1\"", "p.toml:1: schema: a text stands here; expected a whole number"},
      {"name = \"a\\nb\"", "p.toml:1: 'a\\x0ab' has a control character; expected plain text"},
      {"\"a\\nb\" = 1", "p.toml:1: 'a\\x0ab' has a control character; expected plain text"},
      {"x = [[[[[[[[[[[[1]]]]]]]]]]]]", "p.toml:1: nested too deep; expected"},
      {"\n" + std::string(100, '.'), "p.toml:2: a line with too many dots; expected at most 64"},
      {std::string(200'000, '['), "p.toml:1: "},
  };
  for (const auto& [text, expected] : cases) {
    const std::string error = error_of([&given = text] { platform_from_toml(given, "p.toml"); });
    EXPECT_THAT(error, StartsWith(expected)) << text.substr(0, 80);
    EXPECT_THAT(error, HasSubstr("expected"));
  }
  EXPECT_THAT(error_of([] { platform_from_toml(std::string((1 << 24) + 1, '#'), "p.toml"); }),
              HasSubstr("p.toml:1: the document is too large; expected at most 16 MiB"));
}

TEST(Presets, AreSoundAndNamedAsTheirFiles) {
  std::vector<std::string> names;
  for (const PresetEntry& entry : presets()) {
    names.emplace_back(entry.name);
    const Platform platform = platform_from_toml(entry.toml, entry.name);
    EXPECT_EQ(platform.name, entry.name);
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_EQ(load_platform(entry.name).spec(), platform.spec());
    EXPECT_EQ(load_platform(entry.name).name, entry.name);
    EXPECT_EQ(parse_platform_spec(platform.spec()).spec(), platform.spec());
  }
  EXPECT_THAT(names, ::testing::ElementsAre("apt", "cori", "fdr-4node", "fractus", "local",
                                            "sierra", "stampede", "tcp-wan"));
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_NO_THROW(load_platform(kDefaultPlatform));
}

TEST(Presets, StateWhatThePaperStates) {
  EXPECT_EQ(load_platform("fractus").rate, Rate{100'000'000'000});
  EXPECT_EQ(load_platform("sierra").rate, Rate{40'000'000'000});
  EXPECT_EQ(load_platform("stampede").rate, Rate{40'000'000'000});
  EXPECT_EQ(load_platform("apt").rate, Rate{56'000'000'000});
  EXPECT_EQ(load_platform("fdr-4node").rate, Rate{56'000'000'000});
}

TEST(Presets, GiveEveryFigureAndItsSource) {
  for (const PresetEntry& entry : presets()) {
    std::istringstream lines{std::string(entry.toml)};
    std::string comment;
    std::string section;
    std::size_t figures = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with('#')) {
        comment += line.substr(1);
        continue;
      }
      if (line.starts_with('[')) section = line;
      if (!section.empty() && line.find(" = ") != std::string::npos) {
        ++figures;
        EXPECT_TRUE(comment.starts_with(" stated: ") || comment.starts_with(" assumed: ") ||
                    comment.starts_with(" calibrated: "))
            << entry.name << ": no source before " << line;
      }
      comment.clear();
    }
    // A figure whose default is another one (a link's rate) may be left out.
    EXPECT_GE(figures, 12u) << entry.name << ": eleven figures and a topology";
  }
}

TEST(LoadPlatform, OverridesAPresetsFigures) {
  Platform expected = load_platform("fractus");
  expected.nic = NicDiscipline::kFair;
  expected.latency = Time{2'000'000};
  const Platform platform = load_platform("fractus:nic=fair,latency=2us");
  EXPECT_EQ(platform.spec(), expected.spec());
  EXPECT_EQ(platform.name, "fractus:nic=fair,latency=2us");
}

TEST(LoadPlatform, ReadsASpec) {
  EXPECT_EQ(load_platform("star").spec(), Platform{}.spec());
  EXPECT_EQ(load_platform("star:rate=7Gbps").rate, Rate{7'000'000'000});
}

TEST(LoadPlatform, ReadsAFileOfAnyName) {
  for (const char* name : {"a.toml", "plain", "with:colon=x"}) {
    const TemporaryFile file(name, "[nic]\nrate = \"3Gbps\"\n");
    EXPECT_EQ(load_platform(file.path()).rate, Rate{3'000'000'000}) << name;
    EXPECT_EQ(load_platform(file.path()).name, file.path());
  }
}

TEST(LoadPlatform, SaysWhatIsWrong) {
  EXPECT_THAT(
      error_of([] { load_platform("fractur"); }),
      HasSubstr("'fractur': no such preset or file: did you mean 'fractus'?; expected apt, cori, "
                "fdr-4node, fractus, local, sierra, stampede, tcp-wan, star:key=value,… or another "
                "topology "
                "(star, two-level, fat-tree, dragonfly, torus or simgrid), or the path of a TOML "
                "file or of NCCL's topology (XML)"));
  EXPECT_THAT(error_of([] { load_platform(""); }), HasSubstr("no such preset or file"));
  EXPECT_THAT(error_of([] { load_platform("fractus:"); }), HasSubstr("expected key=value"));
  EXPECT_THAT(error_of([] { load_platform("fractus:o_post=1"); }),
              HasSubstr("platform 'fractus:o_post=1': o_post: '1' is not a time"));
  EXPECT_THAT(error_of([] { load_platform("/nowhere/x.toml"); }),
              HasSubstr("platform file '/nowhere/x.toml': cannot be read; expected a TOML file"));
  EXPECT_THAT(error_of([] { load_platform("a\nb"); }), HasSubstr("has a control character"));
  const TemporaryFile file("bad.toml", "\nbad");
  EXPECT_THAT(error_of([&] { load_platform(file.path()); }), StartsWith(file.path() + ":2: "));
  EXPECT_THAT(error_of([&] { load_platform(file.folder()); }), HasSubstr("cannot be read"));
  if (std::filesystem::exists("/dev/zero")) {
    EXPECT_THAT(error_of([] { load_platform("/dev/zero"); }), HasSubstr("more than 16 MiB"));
  }
}

TEST(Platform, TransfersAtTheLowerRate) {
  Platform platform;
  platform.rate = Rate{8'000'000'000};
  EXPECT_DOUBLE_EQ(platform.transfer_s(1'000'000'000), 1.0);
  EXPECT_DOUBLE_EQ(platform.transfer_s(1'000'000'000, Rate{4'000'000'000}), 2.0);
  EXPECT_DOUBLE_EQ(platform.transfer_s(1'000'000'000, Rate{16'000'000'000}), 1.0);
  EXPECT_EQ(platform.transfer_s(0), 0.0);
}

}  // namespace
}  // namespace slackline::machine
