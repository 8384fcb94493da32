// Hosts that differ and networks within them, as platforms say them in a line and in a file.
#include "machine/host_figures.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "machine/platform.h"
#include "machine/platform_figures.h"
#include "machine/wiring.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

template <class Error, class Act>
std::string refusal(const Act& act) {
  return testing::error_of<Error>(act);
}

std::string refused(const std::string& spec, std::uint32_t ranks = 8) {
  return refusal<InputError>([&] { Wiring(parse_platform_spec(spec), ranks); });
}

std::string unsupported(const std::string& spec) {
  return refusal<Unsupported>([&] { Wiring(parse_platform_spec(spec), 8); });
}

TEST(HostFigures, HaveOneTextEach) {
  const auto rates = parse_host_rates("9:25Gbps+4..6:50Gbps+7:50Gbps", "host_rate");
  EXPECT_EQ(format_for_hosts(rates), "4..7:50Gbps+9:25Gbps");
  EXPECT_EQ(parse_host_rates(format_for_hosts(rates), "host_rate"), rates);
  const sched::Rate others{1};
  EXPECT_EQ(rates.of(3, others), others);
  EXPECT_EQ(rates.of(4, others).bits_per_second, 50'000'000'000u);
  EXPECT_EQ(rates.of(7, others).bits_per_second, 50'000'000'000u);
  EXPECT_EQ(rates.of(8, others), others);
  EXPECT_EQ(rates.of(9, others).bits_per_second, 25'000'000'000u);
  EXPECT_EQ(format_for_hosts(parse_host_times("0:2us", "host_latency")), "0:2us");
}

TEST(HostFigures, RefuseWhatIsNoValueOfHosts) {
  for (const char* text : {"", "4", "4..7", ":50Gbps", "7..4:50Gbps", "4..:50Gbps", "04x:50Gbps",
                           "4:50Gbps+", "-1:50Gbps", "1048576:50Gbps", "4294967296:50Gbps"}) {
    EXPECT_THROW(parse_host_rates(text, "host_rate"), InputError) << text;
  }
  EXPECT_EQ(refused("star:host_rate=2..4:50Gbps+4:25Gbps"),
            "platform 'star:host_rate=2..4:50Gbps+4:25Gbps': host_rate: host 4 stands twice in "
            "'2..4:50Gbps+4:25Gbps'; expected one value of a host");
}

TEST(HostFigures, AreOfHostsThatTheNetworkHas) {
  // A star has as many hosts as a run fills.
  EXPECT_EQ(refused("star:host_rate=2..40:50Gbps"), "");
  EXPECT_EQ(refused("two-level:racks=2,hosts=4,host_rate=2..7:50Gbps"), "");
  EXPECT_NE(refused("two-level:racks=2,hosts=4,host_latency=8:5us").find("has no host 8"),
            std::string::npos);
  // Of several NICs the hosts are fewer.
  EXPECT_NE(refused("fat-tree:down=2x4,up=1x2,rails=2,host_rate=4:5Gbps", 4).find("no host 4"),
            std::string::npos);
}

TEST(HostFigures, OfALineAndOfAFileAreTheSame) {
  const Platform inline_spec = parse_platform_spec(
      "two-level:racks=2,hosts=2,rate=400Gbps,latency=2us,ranks_per_node=8,rails=8,scale_up_rate="
      "3600Gbps,scale_up_latency=400ns,host_rate=2..3:200Gbps,host_latency=3:1us,host_scale_up_"
      "rate=2..3:1800Gbps");
  const Platform file = platform_from_toml(R"(schema = 1
[nic]
rate = "400Gbps"
host_rate = "2..3:200Gbps"
[node]
ranks = 8
rails = 8
scale_up_rate = "3600Gbps"
scale_up_latency = "400ns"
host_scale_up_rate = "2..3:1800Gbps"
[network]
topology = "two-level"
racks = 2
hosts = 2
latency = "2us"
host_latency = "3:1us"
)",
                                           "lab.toml");
  EXPECT_EQ(file.spec(), inline_spec.spec());
  EXPECT_EQ(parse_platform_spec(file.spec()).spec(), file.spec());
  EXPECT_NE(file.spec().find("scale_up_rate=3600Gbps,scale_up_latency=400ns"), std::string::npos);
  EXPECT_EQ(parse_platform_spec(file.spec()).hosts, inline_spec.hosts);
  EXPECT_EQ(parse_platform_spec(file.spec()).node, inline_spec.node);
}

TEST(ScaleUp, IsOffUnlessGiven) {
  EXPECT_EQ(parse_platform_spec("star:ranks_per_node=8").spec().find("scale_up"),
            std::string::npos);
  EXPECT_FALSE(Platform{}.node.scale_up.any());
  EXPECT_FALSE(Platform{}.hosts.any());
}

TEST(ScaleUp, RefusesWhatWouldSayNothing) {
  EXPECT_NE(refused("star:ranks_per_node=2,scale_up_latency=1us").find("expected both"),
            std::string::npos);
  EXPECT_NE(refused("star:scale_up_rate=100Gbps").find("ranks_per_node above 1"),
            std::string::npos);
  EXPECT_NE(refused("star:ranks_per_node=2,host_scale_up_rate=1:10Gbps").find("expected both"),
            std::string::npos);
  EXPECT_NE(unsupported("star:ranks_per_node=2,scale_up_rate=100Gbps,nic=fair,congestion=pfc")
                .find("congestion=pfc and scale_up_rate"),
            std::string::npos);
  EXPECT_NE(refusal<InputError>([] {
              parse_platform_spec("simgrid:file=x.xml,ranks_per_node=2,scale_up_rate=10Gbps");
            }).find("simgrid takes no key 'scale_up_rate'"),
            std::string::npos);
  EXPECT_NE(refusal<InputError>([] {
              parse_platform_spec("simgrid:file=x.xml,host_rate=1:10Gbps");
            }).find("simgrid takes no key 'host_rate'"),
            std::string::npos);
}

// The fastest NIC decides how much a step moves.
TEST(HostFigures, CongestionStepsFitTheFastestNic) {
  const std::string spec = "star:rate=10Gbps,nic=fair,congestion=pfc,pfc_xoff=100KiB,";
  EXPECT_EQ(refused(spec + "host_rate=1:20Gbps"), "");
  EXPECT_NE(refused(spec + "host_rate=1:100000Gbps").find("congestion_step"), std::string::npos);
}

}  // namespace
}  // namespace slackline::machine
