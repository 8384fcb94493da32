// NCCL's topologies as platforms: what is kept of a host, and what is refused by name.
#include "machine/nccl_topology.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "machine/platform.h"
#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"

namespace slackline::machine {
namespace {

using ::testing::StartsWith;

constexpr const char* kSwitched =
    "<nvlink target=\"0000:f4:00.0\" count=\"5\" tclass=\"0x068000\"/>"
    "<nvlink target=\"0000:f5:00.0\" count=\"4\" tclass=\"0x068000\"/>";

std::string gpu(int number, const std::string& links, const char* speed = "32.0 GT/s PCIe",
                int width = 16, int capability = 90) {
  return fmt::format(
      "<pci busid=\"0000:1{}:00.0\" class=\"0x030200\" link_speed=\"{}\" link_width=\"{}\">\n"
      "<gpu dev=\"{}\" sm=\"{}\" rank=\"{}\" gdr=\"1\">{}</gpu></pci>\n",
      number, speed, width, number, capability, number, links);
}

std::string nic(int number, const std::string& speed, const char* link = "32.0 GT/s PCIe") {
  return fmt::format(
      "<pci busid=\"0000:2{}:00.0\" class=\"0x020000\" link_speed=\"{}\" link_width=\"16\">\n"
      "<nic><net name=\"mlx5_{}\" dev=\"{}\" {} port=\"1\" gdr=\"1\"/></nic></pci>\n",
      number, link, number, number, speed);
}

std::string host(const std::string& inside) {
  return "<!-- of a test -->\n<system version=\"1\">\n<cpu host_hash=\"0x1\" numaid=\"0\">\n" +
         inside + "</cpu>\n</system>\n";
}

Platform read(const std::string& text, const NcclFigures& figures = {}) {
  return platform_from_nccl(text, "t.xml", figures);
}

std::string error_of(const std::string& text, const NcclFigures& figures = {}) {
  return testing::error_of<Error>([&] { read(text, figures); });
}

TEST(NcclTopology, GpusAreRanksAndNicsAreRails) {
  const Platform p =
      read(host(gpu(0, kSwitched) + gpu(1, kSwitched) + gpu(2, kSwitched) + gpu(3, kSwitched) +
                nic(0, "speed=\"400000\"") + nic(1, "speed=\"400000\"")));
  EXPECT_EQ(p.node.ranks, 4u);
  EXPECT_EQ(p.node.rails.count, 2u);
  EXPECT_EQ(p.node.rails.rule, RailRule::kRank);
  // 32 GT/s of 16 lanes are 384 Gb/s, less than the NIC's 400.
  EXPECT_EQ(p.rate.bits_per_second, 384'000'000'000u);
  // 9 links of 20.6 GB/s, which all lead to switches.
  EXPECT_EQ(p.copy_rate.bits_per_second, 9 * 164'800'000'000u);
  EXPECT_EQ(p.topology.kind(), TopologyKind::kStar);
  EXPECT_EQ(p.spec().substr(0, 5), "star:");
}

TEST(NcclTopology, WithoutNvlinkTheNarrowestPcieLinkCounts) {
  const std::string below =
      "<pci busid=\"0000:01:00.0\" class=\"0x060400\" link_speed=\"8.0 GT/s PCIe\" "
      "link_width=\"8\">\n" +
      gpu(0, "") + gpu(1, "") + nic(0, "speed=\"100000\"") + "</pci>\n";
  const Platform p = read(host(below));
  EXPECT_EQ(p.copy_rate.bits_per_second, 8 * 6'000'000'000u);
  // The NIC's own link does not pass the bridge to the GPUs below it.
  EXPECT_EQ(p.rate.bits_per_second, 100'000'000'000u);
}

TEST(NcclTopology, LinksBetweenGpusCountWhereEachPairHasAsMany) {
  const auto to = [](int number, int count) {
    return fmt::format("<nvlink target=\"0000:1{}:00.0\" count=\"{}\" tclass=\"0x030200\"/>",
                       number, count);
  };
  const std::string rest = nic(0, "speed=\"100000\"");
  const Platform p = read(host(gpu(0, to(1, 2) + to(2, 2), "8 GT/s", 16, 70) +
                               gpu(1, to(0, 2) + to(2, 2), "8 GT/s", 16, 70) +
                               gpu(2, to(0, 2) + to(1, 2), "8 GT/s", 16, 70) + rest));
  EXPECT_EQ(p.copy_rate.bits_per_second, 2 * 160'000'000'000u);
  EXPECT_EQ(
      error_of(host(gpu(0, to(1, 2) + to(2, 1)) + gpu(1, to(0, 2) + to(2, 2)) +
                    gpu(2, to(0, 1) + to(1, 2)) + rest)),
      "t.xml:5: GPU 0 has 1 NVLinks to GPU 2 (0000:12:00.0), and 2 to 0000:11:00.0; expected as "
      "many to each, or copy_rate=RATE behind the file's name");
}

TEST(NcclTopology, FilesThatPeopleWriteHaveDevicesOnly) {
  const std::string device =
      "<pci busid=\"0001:00:00.0\" class=\"0x030200\" link_speed=\"16 GT/s\" "
      "link_width=\"16\"/>\n";
  const std::string card =
      "<pci busid=\"0101:00:00.0\" class=\"0x020700\" link_speed=\"16 GT/s\" "
      "link_width=\"16\"/>\n";
  const std::string text = host(device + device + card + card);
  EXPECT_EQ(error_of(text),
            "t.xml:6: the speed of a NIC (<net speed=…>) is not told; expected it, or rate=RATE "
            "behind the file's name");
  NcclFigures figures;
  figures.rate = true;
  EXPECT_EQ(error_of(text, figures),
            "t.xml:4: the links of GPU 0 to others are not told (<gpu>); expected them, or "
            "copy_rate=RATE behind the file's name");
  figures.copy_rate = true;
  const Platform p = read(text, figures);
  EXPECT_EQ(p.node.ranks, 2u);
  EXPECT_EQ(p.node.rails.count, 2u);
}

// As NCCL's table has it: what is above 86 and below 90 is as 80.
TEST(NcclTopology, LinksHaveTheRateOfTheirCapability) {
  const std::pair<int, std::uint64_t> cases[] = {{60, 144'000}, {75, 160'000}, {85, 160'000},
                                                 {86, 96'000},  {87, 160'000}, {89, 160'000},
                                                 {90, 164'800}, {120, 320'800}};
  for (const auto& [capability, mbps] : cases) {
    const auto one = [capability = capability](int number) {
      return gpu(number, kSwitched, "8 GT/s", 16, capability);
    };
    const Platform p = read(host(one(0) + one(1) + nic(0, "speed=\"100000\"")));
    EXPECT_EQ(p.copy_rate.bits_per_second, 9 * mbps * 1'000'000) << capability;
  }
}

// An NVLink to a CPU is none to a switch, and what goes over it from GPU to GPU the file does not
// say.
TEST(NcclTopology, LinksToACpuAreNoneBetweenGpus) {
  const std::string to_cpu = "<nvlink target=\"0000:00:00.0\" count=\"3\" tclass=\"0x068001\"/>";
  const std::string card = nic(0, "speed=\"100000\"");
  const auto to = [&](int number) {
    return to_cpu +
           fmt::format("<nvlink target=\"0000:1{}:00.0\" count=\"2\" tclass=\"0x030200\"/>",
                       number);
  };
  const Platform p =
      read(host(gpu(0, to(1), "8 GT/s", 16, 70) + gpu(1, to(0), "8 GT/s", 16, 70) + card));
  EXPECT_EQ(p.copy_rate.bits_per_second, 2 * 160'000'000'000u);
  const std::string none =
      "t.xml:5: GPU 0 sends others what its links to the CPU (c2c, NVLink) carry, of which there "
      "is "
      "no figure here; expected copy_rate=RATE behind the file's name";
  EXPECT_EQ(error_of(host(gpu(0, to_cpu) + gpu(1, to_cpu) + card)), none);
  const std::string c2c = "<c2c bw=\"44000\" count=\"5\"/>";
  EXPECT_EQ(error_of(host(gpu(0, c2c) + gpu(1, c2c) + card)), none);
  EXPECT_EQ(read(host(gpu(0, c2c + kSwitched) + gpu(1, c2c + kSwitched) + card))
                .copy_rate.bits_per_second,
            9 * 164'800'000'000u);
}

TEST(NcclTopology, PortsOfACardShareItsPcieLink) {
  const auto two_ports = [](const char* link) {
    return fmt::format(
        "<pci busid=\"0000:20:00.0\" class=\"0x020000\" link_speed=\"{}\" link_width=\"16\"><nic>\n"
        "<net name=\"mlx5_0\" dev=\"0\" speed=\"100000\"/>\n"
        "<net name=\"mlx5_1\" dev=\"1\" speed=\"100000\"/></nic></pci>\n",
        link);
  };
  const std::string gpus = gpu(0, kSwitched) + gpu(1, kSwitched);
  EXPECT_EQ(read(host(gpus + two_ports("32 GT/s"))).node.rails.count, 2u);
  EXPECT_EQ(
      error_of(host(gpus + two_ports("16 GT/s"))),
      "t.xml:10: NIC 'mlx5_1' and those of its card have 200000 Mb/s together, and their PCIe "
      "link carries 192000; expected no more than it carries, or rate=RATE behind the file's "
      "name");
  NcclFigures figures;
  figures.rate = true;
  EXPECT_EQ(read(host(gpus + two_ports("16 GT/s")), figures).node.rails.count, 2u);
}

TEST(NcclTopology, IsRefusedWithTheLine) {
  const std::string one = gpu(0, kSwitched);
  const std::string card = nic(0, "speed=\"100000\"");
  const std::pair<std::string, std::string> cases[] = {
      {"<algo/>", "t.xml:1: it has no <system>; expected NCCL's topology"},
      {host(card), "t.xml:2: a host without a GPU; expected at least one"},
      {host(one), "t.xml:2: the speed of a NIC (<net speed=…>) is not told; expected it, or rate="},
      {host(one + nic(0, "")), "t.xml:7: the speed of a NIC (<net speed=…>) is not told"},
      {host(one + nic(0, "speed=\"fast\"")),
       "t.xml:7: speed='fast'; expected a whole number from 0 to 1000000000"},
      {host(one + card + nic(1, "speed=\"200000\"")),
       "t.xml:9: NIC 'mlx5_1' has 200000 Mb/s, and 'mlx5_0' on line 7 has 100000; expected NICs of "
       "one rate, or rate=RATE behind the file's name"},
      {host(one + gpu(1, "") + card),
       "t.xml:7: GPU 1 sends another 384000 Mb/s, and GPU 0 on line 5 1483200; expected GPUs that "
       "are alike, or copy_rate=RATE behind the file's name"},
      {host(gpu(0, "<xgmi target=\"0000:11:00.0\" count=\"1\"/>") + one + card),
       "t.xml:5: links between GPUs (xgmi) that have no figure here; expected copy_rate=RATE"},
      {host(gpu(0, kSwitched, "8 GT/s", 16, 30) + one + card),
       "t.xml:5: NVLinks of GPU 0, whose compute capability (sm) is 30; expected 60 or more, or "},
      {host(gpu(0, kSwitched) + gpu(0, kSwitched) + card),
       "t.xml:7: GPU 1 shares PCIe device '0000:10:00.0' with another GPU; expected one GPU a "
       "device, or copy_rate="},
      {host(gpu(0, "", "9 GT/s") + card),
       "t.xml:4: link_speed='9 GT/s'; expected 2.5, 5, 8, 16, 32 or 64 GT/s"},
      {"<system><cpu host_hash=\"0x1\"/>\n<cpu host_hash=\"0x2\"/></system>",
       "t.xml:2: a second host (host_hash); expected one, of which there are as many as the "
       "ranks "},
  };
  for (const auto& [text, expected] : cases) EXPECT_THAT(error_of(text), StartsWith(expected));
}

TEST(NcclTopology, IsAPlatformWithFiguresOfItsOwn) {
  const slackline::testing::TempFolder folder;
  const std::string path = folder.write(
      "t.xml", host(gpu(0, kSwitched) + gpu(1, kSwitched) + nic(0, "speed=\"100000\"")));
  EXPECT_EQ(load_platform(path).rate.bits_per_second, 100'000'000'000u);
  const Platform p = load_platform(path + ":latency=3us,rate=50Gbps,o-post=1us");
  EXPECT_EQ(p.rate.bits_per_second, 50'000'000'000u);
  EXPECT_EQ(p.latency, Time{3'000'000});
  EXPECT_EQ(p.o_post, Time{1'000'000});
  EXPECT_EQ(p.node.ranks, 2u);
  EXPECT_EQ(parse_platform_spec(p.spec()).spec(), p.spec());
  // What the file does not tell, the figure tells.
  const std::string untold = folder.write("u.xml", host(gpu(0, kSwitched) + nic(0, "")));
  EXPECT_EQ(load_platform(untold + ":rate=50Gbps").rate.bits_per_second, 50'000'000'000u);
  const std::string other = folder.write("s.xml", "<platform version=\"4.1\"/>");
  EXPECT_EQ(testing::error_of([&] { load_platform(other); }),
            other + ": it is not NCCL's topology (<system>); expected that, or simgrid:file=" +
                other + " for SimGrid's platforms");
}

}  // namespace
}  // namespace slackline::machine
