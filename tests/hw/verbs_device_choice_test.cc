// Which port, GID and partition a rank takes, on lists of ports that no machine here has.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "hw/verbs/device_choice.h"
#include "tests/support/error_of.h"

namespace slackline::hw {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Gid ipv4(std::uint8_t last) { return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, last}; }
Gid link_local(std::uint8_t last) {
  return {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last};
}

const std::vector<Gid> kHost{ipv4(7)};

PortDescription port(const std::string& device, std::uint8_t number, bool active = true,
                     PortKind kind = PortKind::kRoce, bool of_host = false, int distance = 10) {
  PortDescription made;
  made.device = device;
  made.port = number;
  made.active = active;
  made.kind = kind;
  made.gids = {{0, link_local(1), 2}, {1, of_host ? ipv4(7) : ipv4(1), 2}};
  made.distance = distance;
  return made;
}

VerbsOptions named(const std::string& device) {
  VerbsOptions options;
  options.device = device;
  return options;
}

std::string refusal(const std::vector<PortDescription>& ports, const VerbsOptions& options) {
  return testing::error_of<EnvironmentError>([&] { choose_port(ports, options, kHost); });
}

// The rule, told once more: all that fit, those of the host before the others.
std::optional<std::size_t> expected(const std::vector<PortDescription>& ports,
                                    const std::string& device, int number) {
  for (const bool of_host : {true, false}) {
    for (std::size_t p = 0; p < ports.size(); ++p) {
      const PortDescription& one = ports[p];
      const bool fits = (device.empty() || one.device == device) &&
                        (number == 0 || one.port == number) && one.active &&
                        one.kind == PortKind::kRoce;
      if (fits && (!of_host || one.gids[1].gid == kHost[0])) return p;
    }
  }
  return std::nullopt;
}

TEST(DeviceChoice, IsTheRuleOnAllSmallListsOfPorts) {
  int chosen = 0;
  for (int bits = 0; bits < 8 * 8 * 8; ++bits) {
    std::vector<PortDescription> ports;
    for (int p = 0; p < 3; ++p) {
      const int of_port = bits >> (3 * p);
      // a:1, a:2, b:1
      ports.push_back(port(p < 2 ? "a" : "b", p == 1 ? 2 : 1, (of_port & 1) != 0,
                           (of_port & 2) != 0 ? PortKind::kRoce : PortKind::kIwarp,
                           (of_port & 4) != 0));
    }
    // Ports of one device are of one kind.
    if (ports[0].kind != ports[1].kind) continue;
    for (const auto& [device, number] :
         {std::pair{"", 0}, {"a", 0}, {"b", 0}, {"a", 1}, {"a", 2}, {"b", 1}, {"b", 2}, {"c", 0}}) {
      const std::string text = number == 0 ? device : fmt::format("{}:{}", device, number);
      const auto right = expected(ports, device, number);
      SCOPED_TRACE(fmt::format("{} of {:09b}", text, bits));
      if (right) {
        EXPECT_EQ(choose_port(ports, named(text), kHost), *right);
        ++chosen;
      } else {
        EXPECT_THAT(refusal(ports, named(text)), ::testing::StartsWith("verbs: "));
      }
    }
  }
  EXPECT_GT(chosen, 300);
}

TEST(DeviceChoice, SaysWhatThereIsWhereItFindsNone) {
  EXPECT_THAT(refusal({}, {}), HasSubstr("no RDMA device here"));
  EXPECT_EQ(refusal({port("a", 1), port("a", 2), port("b", 1)}, named("c")),
            "verbs: no RDMA device 'c' here; there are: a, b");
  PortDescription shut = port("shut", 0, false);
  shut.trouble = "Permission denied";
  EXPECT_THAT(refusal({port("a", 1, false), shut, port("siw0", 1, true, PortKind::kIwarp)}, {}),
              AllOf(HasSubstr("no active port; no port of a is active; shut cannot be opened: "
                              "Permission denied; siw0 is iWARP"),
                    HasSubstr("ibv_devinfo")));
  EXPECT_THAT(refusal({port("a", 1), port("a", 2, false)}, named("a:2")),
              HasSubstr("a port 2 is not active"));
}

TEST(DeviceChoice, RefusesByNameWhatTheTransportCannotUse) {
  const std::vector<PortDescription> ports{
      port("siw0", 1, true, PortKind::kIwarp), port("efa_0", 1, true, PortKind::kEfa),
      port("usnic_0", 1, true, PortKind::kOther), port("mlx5_0", 1)};
  EXPECT_EQ(choose_port(ports, {}, kHost), 3u);
  EXPECT_THAT(refusal(ports, named("siw0")),
              AllOf(HasSubstr("siw0 is iWARP, whose queue pairs"), HasSubstr("--transport tcp")));
  EXPECT_THAT(refusal(ports, named("efa_0:1")), HasSubstr("efa_0 is EFA, which has no reliable"));
  EXPECT_THAT(refusal(ports, named("usnic_0")), HasSubstr("neither InfiniBand nor RoCE"));
}

TEST(DeviceChoice, KindsAreThoseOfLibibverbs) {
  EXPECT_EQ(kind_of_port(1, 0, false, "mlx5_0"), PortKind::kInfiniBand);
  EXPECT_EQ(kind_of_port(1, 0, true, "mlx5_0"), PortKind::kRoce);
  EXPECT_EQ(kind_of_port(4, 1, true, "irdma0"), PortKind::kIwarp);
  EXPECT_EQ(kind_of_port(-1, 1, true, "x"), PortKind::kIwarp);
  EXPECT_EQ(kind_of_port(7, 4, false, "efa_0"), PortKind::kEfa);
  EXPECT_EQ(kind_of_port(7, 4, false, "rdmap0s6"), PortKind::kEfa);
  EXPECT_EQ(kind_of_port(6, 3, true, "usnic_0"), PortKind::kOther);
  EXPECT_EQ(kind_of_port(2, 0, false, "switch0"), PortKind::kOther);
}

TEST(DeviceMap, IsTakenInTurnByTheRanksOfAHost) {
  const std::vector<PortDescription> ports{port("a", 1), port("a", 2), port("b", 1)};
  VerbsOptions options;
  options.device_map = {"b", "a:2"};
  const std::vector<std::size_t> right{2, 1, 2, 1, 2};
  for (options.rank_on_host = 0; options.rank_on_host < right.size(); ++options.rank_on_host) {
    EXPECT_EQ(choose_port(ports, options, {}), right[options.rank_on_host]);
  }
  options.device_map = {"b", "c"};
  options.rank_on_host = 1;
  EXPECT_THAT(refusal(ports, options), HasSubstr("no RDMA device 'c'"));
}

TEST(DeviceMap, AutoTakesTheNearestInTurnAndOnlyThoseThatWork) {
  const std::vector<PortDescription> ports{port("far", 1, true, PortKind::kRoce, false, 20),
                                           port("down", 1, false),
                                           port("iw", 1, true, PortKind::kIwarp),
                                           port("near", 1),
                                           port("near", 2, false),
                                           port("ib", 1, true, PortKind::kInfiniBand)};
  VerbsOptions options;
  options.nearest = true;
  const std::vector<std::size_t> right{3, 5, 3, 5};
  for (options.rank_on_nodes = 0; options.rank_on_nodes < right.size(); ++options.rank_on_nodes) {
    options.rank_on_host = 17;  // which does not matter here
    EXPECT_EQ(choose_port(ports, options, kHost), right[options.rank_on_nodes]);
  }
  EXPECT_EQ(choose_port(std::vector{ports[0], ports[1]}, options, {}), 0u);
  EXPECT_THAT(refusal({ports[1], ports[2]}, options),
              HasSubstr("no active port; no port of down is active; iw is iWARP"));
}

std::optional<int> gid_of(const std::vector<PortGid>& gids, bool ethernet = true,
                          std::optional<std::uint8_t> index = std::nullopt) {
  const auto chosen = choose_gid(gids, ethernet, index, kHost, "x port 1");
  return chosen ? std::optional<int>(chosen->index) : std::nullopt;
}

TEST(GidChoice, PrefersTheLaterVersionThenTheHostsThenIpv4) {
  // Each is preferred to all after it.
  const std::vector<PortGid> order{{0, ipv4(7), 2},       {1, ipv4(1), 2},      {2, {0x20, 1}, 2},
                                   {3, link_local(1), 2}, {4, ipv4(7), 1},      {5, ipv4(1), 1},
                                   {6, {0x20, 1}, 1},     {7, link_local(1), 1}};
  for (std::size_t a = 0; a < order.size(); ++a) {
    for (std::size_t b = a; b < order.size(); ++b) {
      EXPECT_EQ(gid_of({order[a], order[b]}), order[a].index);
      EXPECT_EQ(gid_of({order[b], order[a]}), order[a].index);
    }
  }
}

TEST(GidChoice, OfInfiniBandIsTheFirstAndMayBeNone) {
  EXPECT_EQ(gid_of({{1, ipv4(7), 0}, {0, link_local(1), 0}}, false), 0);
  EXPECT_EQ(gid_of({}, false), std::nullopt);
  EXPECT_THROW(gid_of({}), EnvironmentError);
}

TEST(GidChoice, ByIndexIsThatOneOrTellsWhichThereAre) {
  const std::vector<PortGid> gids{{0, link_local(1), 1}, {3, ipv4(7), 2}};
  EXPECT_EQ(gid_of(gids, true, 0), 0);
  EXPECT_EQ(gid_of(gids, true, 3), 3);
  EXPECT_EQ(testing::error_of<EnvironmentError>([&] { gid_of(gids, true, 1); }),
            "verbs: x port 1 has no GID 1 (--gid-index); it has 0 (fe80::1, RoCE v1), 3 "
            "(10.9.0.7, RoCE v2)");
}

TEST(PartitionChoice, IsAPlaceOrAKeyWhicheverItsMembership) {
  const std::vector<std::uint16_t> keys{0xffff, 0, 0x0005, 0x8006, 0x8005};
  const auto chosen = [&](PartitionChoice choice) { return choose_partition(keys, choice, "x"); };
  EXPECT_EQ(chosen({std::nullopt, 0}), 0);
  EXPECT_EQ(chosen({std::nullopt, 3}), 3);
  EXPECT_EQ(chosen({0xffff, 0}), 0);
  EXPECT_EQ(chosen({0x7fff, 0}), 0);
  EXPECT_EQ(chosen({0x0005, 0}), 2);
  EXPECT_EQ(chosen({0x8005, 0}), 4);
  EXPECT_EQ(chosen({0x0006, 0}), 3);
  for (const PartitionChoice& none :
       {PartitionChoice{std::nullopt, 1}, {std::nullopt, 5}, {0x8007, 0}}) {
    EXPECT_THROW(chosen(none), EnvironmentError);
  }
  try {
    chosen({0x8007, 0});
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(),
                 "verbs: x has no partition key 0x8007 (--pkey); it has 0 (0xffff), 2 (0x0005), 3 "
                 "(0x8006), 4 (0x8005)");
  }
}

}  // namespace
}  // namespace slackline::hw
