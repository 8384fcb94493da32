// Networks and placements as users write them: inline, in files, over presets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "machine/platform.h"
#include "machine/topology_entry.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using slackline::testing::error_of;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// SimGrid's files have the network's rates and latencies.
constexpr std::string_view kRestOfFile =
    "nic=serial,o_post=0,o_complete=0,gap=0,atomic_service=0,copy_rate=80Gbps,poll_cost=0,"
    "interrupt_cost=0,interleave=4KiB";
constexpr std::string_view kRest =
    "nic=serial,rate=100Gbps,latency=1us,o_post=0,o_complete=0,gap=0,atomic_service=0,"
    "copy_rate=80Gbps,poll_cost=0,interrupt_cost=0,interleave=4KiB";

// The start of the canonical text, before the figures that every platform has.
std::string head_of(std::string_view text) {
  const std::string spec = parse_platform_spec(text).spec();
  const std::size_t rest = spec.find(spec.starts_with("simgrid") ? kRestOfFile : kRest);
  EXPECT_NE(rest, std::string::npos) << spec;
  return spec.substr(0, rest);
}

TEST(NetworkSpec, StatesItsFiguresInAFixedOrder) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"two-level:hosts=16,racks=8",
       "two-level:racks=8,hosts=16,oversubscription=1,hop_latency=0,"},
      {"two-level:racks=8,hosts=16,oversubscription=2.50",
       "two-level:racks=8,hosts=16,oversubscription=2.5,hop_latency=0,"},
      {"two-level:racks=8,hosts=16,uplink=1GBps,hop_latency=0.1us",
       "two-level:racks=8,hosts=16,uplink=8Gbps,hop_latency=100ns,"},
      {"fat-tree:down=4x4,up=1x2", "fat-tree:down=4x4,up=1x2,parallel=1x1,hop_latency=0,"},
      {"fat-tree:down=4x4,up=1x2,parallel=1x2,link_rate=7Gbps",
       "fat-tree:down=4x4,up=1x2,parallel=1x2,link_rate=7Gbps,hop_latency=0,"},
      {"fat-tree:arity=8", "fat-tree:down=4x4x8,up=1x4x4,parallel=1x1x1,hop_latency=0,"},
      {"dragonfly:groups=3,chassis=2,routers=4,hosts=2",
       "dragonfly:groups=3,chassis=2,routers=4,hosts=2,green=1,black=1,blue=1,hop_latency=0,"},
      {"dragonfly:groups=3,chassis=2,routers=4,hosts=2,green=2,black=3,blue=4,green_rate=1Gbps,"
       "black_rate=2Gbps,blue_rate=3Gbps,link_rate=4Gbps",
       "dragonfly:groups=3,chassis=2,routers=4,hosts=2,green=2,black=3,blue=4,green_rate=1Gbps,"
       "black_rate=2Gbps,blue_rate=3Gbps,link_rate=4Gbps,hop_latency=0,"},
      {"torus:dims=4x4x2", "torus:dims=4x4x2,hop_latency=0,"},
      {"simgrid:file=a/b.xml", "simgrid:file=a/b.xml,"},
  };
  for (const auto& [text, head] : cases) {
    EXPECT_EQ(head_of(text), head);
    const std::string spec = parse_platform_spec(text).spec();
    EXPECT_EQ(parse_platform_spec(spec).spec(), spec);
  }
}

TEST(NetworkSpec, APlacementStandsLastUnlessPacked) {
  EXPECT_THAT(parse_platform_spec("star:placement=packed").spec(), Not(HasSubstr("placement")));
  for (const std::string text :
       {"round-robin", "random:0", "random:18446744073709551615", "file:a b/c=d:e"}) {
    EXPECT_THAT(parse_platform_spec("torus:placement=" + text + ",dims=2").spec(),
                EndsWith(",interleave=4KiB,placement=" + text));
  }
}

TEST(NetworkSpec, FilesReadTheSame) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"topology = \"two-level\"\nracks = 8\nhosts = \"16\"\noversubscription = 4",
       "two-level:racks=8,hosts=16,oversubscription=4"},
      {"topology = \"two-level\"\nracks = 8\nhosts = 16\noversubscription = 3.5",
       "two-level:racks=8,hosts=16,oversubscription=3.5"},
      {"uplink = \"3Gbps\"\ntopology = \"two-level\"\nracks = 8\nhosts = 16\n"
       "hop_latency = \"5ns\"\nplacement = \"random:7\"",
       "two-level:racks=8,hosts=16,uplink=3Gbps,hop_latency=5ns,placement=random:7"},
      {"topology = \"fat-tree\"\ndown = [4, 4]\nup = \"1x2\"\nparallel = [1, 2]",
       "fat-tree:down=4x4,up=1x2,parallel=1x2"},
      {"topology = \"fat-tree\"\narity = 4", "fat-tree:arity=4"},
      {"topology = \"torus\"\ndims = [4]", "torus:dims=4"},
      {"topology = \"torus\"\ndims = 4", "torus:dims=4"},
      {"topology = \"dragonfly\"\ngroups = 2\nchassis = 2\nrouters = 2\nhosts = 2\nblue = 3\n"
       "blue_rate = \"1Gbps\"",
       "dragonfly:groups=2,chassis=2,routers=2,hosts=2,blue=3,blue_rate=1Gbps"},
      {"topology = \"simgrid\"\nfile = \"x.xml\"", "simgrid:file=x.xml"},
  };
  for (const auto& [toml, text] : cases) {
    EXPECT_EQ(platform_from_toml("[network]\n" + toml, "p.toml").spec(),
              parse_platform_spec(text).spec());
  }
}

TEST(NetworkSpec, OverridesAPresetsNetwork) {
  const Platform apt = load_platform("apt:racks=2,hosts=3,placement=round-robin");
  Platform expected = load_platform("apt");
  std::get<TwoLevel>(expected.topology.shape).racks = 2;
  std::get<TwoLevel>(expected.topology.shape).hosts = 3;
  expected.placement.kind = Placement::Kind::kRoundRobin;
  EXPECT_EQ(apt.spec(), expected.spec());
  // Of two ways to say the same, the later one stands.
  EXPECT_THAT(load_platform("apt:uplink=16Gbps").spec(), HasSubstr("uplink=16Gbps,"));
  EXPECT_THAT(load_platform("apt:uplink=16Gbps").spec(), Not(HasSubstr("oversubscription")));
}

TEST(NetworkSpec, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"two-level", "platform 'two-level': racks is missing; expected a whole number from 1"},
      {"two-level:racks=2", "hosts is missing; expected a whole number from 1 to 1048576"},
      {"two-level:racks=0,hosts=2", "racks: '0' is not a whole number from 1 to 1048576"},
      {"two-level:racks=2,hosts=0", "hosts: '0' is not a whole number from 1 to 1048576"},
      {"two-level:racks=-2,hosts=2", "racks: '-2' is not a whole number from 1 to 1048576"},
      {"two-level:racks=2000000,hosts=2", "racks: '2000000' is not a whole number from 1"},
      {"two-level:racks=1025,hosts=1024", "too many hosts; expected at most 1048576"},
      {"two-level:racks=2,hosts=2,dims=3",
       "two-level takes no key 'dims'; expected one that `slackline list figures two-level` shows"},
      {"two-level:racks=2,hosts=2,link_rate=1Gbps", "two-level takes no key 'link_rate'; expected"},
      {"star:racks=2", "star takes no key 'racks'; expected one that"},
      {"star:hop_latency=2ns", "star takes no key 'hop_latency'; expected"},
      {"two-level:racks=2,hosts=2,speed=3", "unknown key 'speed'; expected one that"},
      {"two-level:racks=2,hosts=2,oversubscription=0",
       "oversubscription: '0' is no oversubscription; expected a number above 0 such as 3.5"},
      {"two-level:racks=2,hosts=2,oversubscription=-1", "'-1' is no oversubscription; expected"},
      {"two-level:racks=2,hosts=2,oversubscription=inf", "'inf' is no oversubscription; expected"},
      {"two-level:racks=2,hosts=2,oversubscription=nan", "'nan' is no oversubscription; expected"},
      {"two-level:racks=2,hosts=2,oversubscription=1e999", "'1e999' is no oversubscription"},
      {"two-level:racks=2,hosts=2,oversubscription=4x", "'4x' is no oversubscription; expected"},
      {"two-level:racks=2,hosts=2,oversubscription=1e300",
       "an oversubscription of 1e+300 leaves the racks no rate; expected an uplink of 1 bps to"},
      {"two-level:racks=2,hosts=2,oversubscription=1e-300", "expected an uplink of 1 bps to"},
      {"two-level:racks=2,hosts=2,uplink=0Gbps", "uplink: '0Gbps' is not a rate: expected"},
      {"two-level:racks=2,hosts=2,uplink=1Gbps,oversubscription=2",
       "uplink and oversubscription both stand here; expected one of them"},
      {"two-level:racks=2,hosts=2,hop_latency=-1ns", "hop_latency: '-1ns' is not a time: expected"},
      {"two-level:racks=2,hosts=2,hop_latency=9223372036854775807ps", "is too long; expected less"},
      {"fat-tree", "down is missing; expected down and up such as 4x4 and 1x2, or arity"},
      {"fat-tree:down=4x4", "up has 0 numbers and down has 2; expected one for each level"},
      {"fat-tree:down=4x4,up=1", "up has 1 numbers and down has 2; expected one for each level"},
      {"fat-tree:down=4x4,up=1x2,parallel=1x2x3",
       "parallel has 3 numbers and down has 2; expected"},
      {"fat-tree:down=4x4,up=2x2", "up begins with 2; expected 1, as a NIC has one cable"},
      {"fat-tree:down=4x4,up=1x2,parallel=2x1", "parallel begins with 2; expected 1, as a NIC"},
      {"fat-tree:down=4x0,up=1x2", "down: '0' is not a whole number from 1 to 1048576"},
      {"fat-tree:down=4x,up=1x2", "down: '' is not a whole number from 1 to 1048576"},
      {"fat-tree:down=1024x1025,up=1x2", "too many hosts; expected at most 1048576"},
      {"fat-tree:down=4x4,up=1x1048576,parallel=1x1048576", "too many links between switches;"},
      {"fat-tree:down=1x1x1,up=1x9999x9999", "too many links between switches; expected at most"},
      {"fat-tree:down=1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1,up=1",
       "down: too many numbers; expected at most 20"},
      {"fat-tree:arity=7", "arity: 7 is odd; expected an even number of ports"},
      {"fat-tree:arity=0", "arity: '0' is not a whole number from 2 to 160"},
      {"fat-tree:arity=162", "arity: '162' is not a whole number from 2 to 160"},
      {"fat-tree:arity=4,up=1x2x2", "arity and up both stand here; expected one of them"},
      {"dragonfly", "groups is missing; expected"},
      {"dragonfly:groups=2,chassis=2,routers=2", "hosts is missing; expected"},
      {"dragonfly:groups=7,chassis=2,routers=3,hosts=1",
       "7 groups of 6 routers cannot be joined all to all; expected at most as many groups as"},
      {"dragonfly:groups=1024,chassis=32,routers=32,hosts=2", "too many hosts; expected at most"},
      {"dragonfly:groups=1,chassis=1,routers=1048576,hosts=1", "too many links between switches;"},
      {"dragonfly:groups=2,chassis=2,routers=2,hosts=2,blue=0", "blue: '0' is not a whole number"},
      {"dragonfly:groups=2,chassis=2,routers=2,hosts=2,blue=1000000,blue_rate=999999Gbps",
       "1000000 cables of blue are too fast; expected at most"},
      {"dragonfly:groups=2,chassis=2,routers=2,hosts=2,green_rate=0Gbps", "'0Gbps' is not a rate"},
      {"torus", "dims is missing; expected sizes such as 4x4x2"},
      {"torus:dims=4x0", "dims: '0' is not a whole number from 1 to 1048576"},
      {"torus:dims=", "dims: '' is not a whole number from 1 to 1048576"},
      {"torus:dims=4x1024x1024", "too many hosts; expected at most 1048576"},
      {"torus:dims=4,link_rate=0Gbps", "link_rate: '0Gbps' is not a rate: expected"},
      {"simgrid", "file is missing; expected the path of a SimGrid platform file"},
      {"simgrid:file=", "file: '' is no path; expected a file's path without commas"},
      {"simgrid:file=x,rate=1Gbps",
       "simgrid takes no key 'rate'; expected one that `slackline list figures "
       "simgrid` shows"},
      {"simgrid:file=x,latency=1us", "simgrid takes no key 'latency'; expected one that"},
      {"star:placement=spread",
       "placement: 'spread' is no placement; expected packed, round-robin, random:SEED or file:"},
      {"star:placement=random:", "placement: '' is not a whole number from 0 to"},
      {"star:placement=random:-1", "placement: '-1' is not a whole number from 0 to"},
      {"star:placement=file:", "placement: '' is no path; expected a file's path without commas"},
      {"ring",
       "'ring' is no topology; expected star, two-level, fat-tree, dragonfly, torus or "
       "simgrid"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(error_of([&given = text] { parse_platform_spec(given); }), HasSubstr(expected))
        << text;
  }
}

// 2^23 links between switches, exactly, and a few more.
TEST(NetworkSpec, CountsTheLinksBetweenSwitches) {
  for (const char* most : {
           "fat-tree:down=1x1,up=1x1048576,parallel=1x4",
           "fat-tree:down=1x1x1,up=1x2048x2047",  // 2 · 2048 + 2 · 2048 · 2047
           "dragonfly:groups=1,chassis=2,routers=2048,hosts=1",
           "dragonfly:groups=1,chassis=2048,routers=2,hosts=1",
           "dragonfly:groups=205,chassis=3,routers=116,hosts=1",  // 8 short of it
           "torus:dims=32x32x32x32",
           "torus:dims=256x64x64",
           "torus:dims=2x2x2x2x8192x8",
       }) {
    EXPECT_EQ(error_of([&] { parse_platform_spec(most); }), "") << most;
  }
  for (const char* more : {
           "fat-tree:down=1x1,up=1x1048576,parallel=1x5",
           "fat-tree:down=1x1x1,up=1x2048x2048",
           "dragonfly:groups=1,chassis=2,routers=2049,hosts=1",
           "dragonfly:groups=1,chassis=2049,routers=2,hosts=1",
           "dragonfly:groups=16,chassis=2,routers=512,hosts=1",  // 2^23 within groups
           "torus:dims=16x16x16x16x16",
           "torus:dims=2x32x32x32x16",
       }) {
    EXPECT_THAT(error_of([&] { parse_platform_spec(more); }),
                EndsWith("too many links between switches; expected at most 8388608"))
        << more;
  }
}

TEST(NetworkSpec, SaysWhatIsWrongInAFileAndWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[network]\ntopology = \"two-level\"\nracks = 2", "p.toml:1: network: hosts is missing;"},
      {"[network]\ntopology = \"two-level\"\nracks = 2\n\ndims = [2]",
       "p.toml:5: network: two-level takes no key 'dims'; expected one that"},
      {"[network]\nracks = 2", "p.toml:2: network: star takes no key 'racks'; expected one that"},
      {"[network]\ntopology = \"two-level\"\nracks = -2",
       "p.toml:3: network.racks: '-2' is not a whole number from 1"},
      {"[network]\ntopology = \"two-level\"\nracks = [2]",
       "p.toml:3: network.racks: an array stands here; expected a whole number such as 16"},
      {"[network]\ntopology = \"two-level\"\nracks = 2.5",
       "p.toml:3: network.racks: a decimal number stands here; expected a whole number"},
      {"[network]\ntopology = \"two-level\"\nracks = 2\nhosts = 2\noversubscription = inf",
       "p.toml:5: network.oversubscription: 'inf' is no oversubscription; expected a number above"},
      {"[network]\ntopology = \"two-level\"\nracks = 2\nhosts = 2\noversubscription = -0.5",
       "p.toml:5: network.oversubscription: '-0.5' is no oversubscription; expected"},
      {"[network]\ntopology = \"torus\"\ndims = [2, \"2\"]",
       "p.toml:3: network.dims: an array stands here; expected whole numbers such as [4, 2]"},
      {"[network]\ntopology = \"torus\"\ndims = []", "p.toml:3: network.dims: '' is not a whole"},
      {"[network]\ntopology = \"fat-tree\"\narity = 4\nup = [1, 2, 2]",
       "p.toml:1: network: arity and up both stand here; expected one of them"},
      {"[network]\ntopology = \"simgrid\"\nfile = \"a,b\"",
       "p.toml:3: network.file: 'a,b' is no path; expected a file's path without commas"},
      {"[nic]\ndiscipline = \"fair\"\nrate = \"1Gbps\"\n[network]\ntopology = \"simgrid\"\n"
       "file = \"x\"",
       "p.toml:3: nic: simgrid takes no key 'rate'; expected one that"},
      {"[network]\ntopology = \"simgrid\"\nfile = \"x\"\nlatency = \"1us\"",
       "p.toml:4: network: simgrid takes no key 'latency'; expected one that"},
      {"[nic]\nracks = 2", "p.toml:2: unknown key 'racks' in [nic]; expected one of"},
      {"[network]\nplacement = 3", "p.toml:2: network.placement: a whole number stands here;"},
      {"[network]\nspeed = 3", "p.toml:2: unknown key 'speed' in [network]; expected one of"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(error_of([&given = text] { platform_from_toml(given, "p.toml"); }),
                StartsWith(expected));
  }
}

TEST(Topologies, AreListedOnceEach) {
  for (const TopologyEntry* entry : topologies()) {
    EXPECT_EQ(find_topology(entry->name), entry);
    EXPECT_EQ(&entry_of({entry->shape, {}, {}}), entry);
    EXPECT_FALSE(entry->summary.empty());
  }
  EXPECT_EQ(find_topology("ring"), nullptr);
}

}  // namespace
}  // namespace slackline::machine
