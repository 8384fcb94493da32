// The figures of congestion: how platforms write them, and which contradict each other.
#include "machine/congestion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "machine/platform.h"
#include "tests/support/error_of.h"

namespace slackline::machine {
namespace {

using slackline::testing::error_of;
using ::testing::HasSubstr;

std::string error(const std::string& spec) {
  return error_of([&] { parse_platform_spec(spec); });
}

std::string unsupported(const std::string& spec) {
  return testing::error_of<Unsupported>([&] { parse_platform_spec(spec); });
}

TEST(CongestionFigures, AreOffAndUnwrittenUnlessGiven) {
  EXPECT_FALSE(Platform().congestion.any());
  EXPECT_EQ(Platform().spec().find("congestion"), std::string::npos);
  const Platform off = parse_platform_spec("star:congestion=off");
  EXPECT_EQ(off.spec(), Platform().spec());
  EXPECT_FALSE(why_no_congestion(off).has_value());
  EXPECT_NO_THROW(require_no_congestion(off, "x"));
}

TEST(CongestionFigures, ComeBackFromTheirText) {
  const std::vector<std::string> texts = {
      "congestion=pfc",
      "congestion=dcqcn",
      "congestion=dcqcn+pfc",
      "congestion=pfc,congestion_step=50ns,pfc_xoff=48KB,pfc_xon=40KB",
      "congestion=dcqcn,ecn_kmin=40KB,ecn_kmax=1600KB,ecn_pmax=20%",
      "congestion=dcqcn,dcqcn_g=1/16,dcqcn_cnp=4us,dcqcn_alpha=60us,dcqcn_timer=300us,"
      "dcqcn_bytes=150KB,dcqcn_increase=5Mbps,dcqcn_recovery=1,dcqcn_delay=85us",
  };
  for (const std::string& text : texts) {
    const Platform platform = parse_platform_spec("star:nic=fair," + text);
    EXPECT_NE(platform.congestion, Congestion()) << text;
    const Platform back = parse_platform_spec(platform.spec());
    EXPECT_EQ(back.congestion, platform.congestion) << platform.spec();
    EXPECT_EQ(back.spec(), platform.spec());
  }
  const Congestion last = parse_platform_spec("star:nic=fair," + texts.back()).congestion;
  EXPECT_EQ(last.gain_divisor, 16u);
  EXPECT_EQ(last.cnp_interval, Time{4'000'000});
  EXPECT_EQ(last.counter_bytes, 150'000u);
  EXPECT_EQ(last.feedback, Time{85'000'000});
}

TEST(CongestionFigures, StandInATableOfAFile) {
  const Platform platform = platform_from_toml(
      "[nic]\ndiscipline = \"fair\"\n[congestion]\ncontrol = \"dcqcn+pfc\"\nstep = \"50ns\"\n"
      "pfc_xoff = \"48KB\"\necn_pmax = \"2%\"\ndcqcn_g = \"1/16\"\ndcqcn_recovery = 3\n",
      "p");
  EXPECT_EQ(platform.congestion,
            parse_platform_spec("star:nic=fair,congestion=pfc+dcqcn,congestion_step=50ns,"
                                "pfc_xoff=48KB,ecn_pmax=0.02,dcqcn_g=1/16,dcqcn_recovery=3")
                .congestion);
}

TEST(CongestionFigures, HaveThePapersDefaults) {
  const Platform platform = parse_platform_spec("star:nic=fair,congestion=dcqcn+pfc");
  EXPECT_EQ(packet_bytes(platform), 1000);
  EXPECT_EQ(packet_bytes(parse_platform_spec("star:mtu=4KiB")), 4096);
  // 12 MB, less 22.4 KB of headroom for each of 32 ports and 8 priorities, for those 256.
  EXPECT_EQ(platform.congestion.pfc_xoff_bytes, (12'000'000u - 256u * 22'400u) / 256u);
  EXPECT_EQ(xon_bytes(platform), 24'475 - 2'000);
}

TEST(CongestionFigures, SayWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"congestion=red", "congestion: 'red'; expected off, pfc, dcqcn or dcqcn+pfc"},
      {"pfc_xoff=48KB", "pfc_xoff and congestion=off; expected one that has it"},
      {"congestion=dcqcn,pfc_xoff=48KB", "pfc_xoff and congestion=dcqcn; expected"},
      {"congestion=pfc,ecn_kmin=1KB", "ecn_kmin and congestion=pfc; expected"},
      {"congestion=pfc,dcqcn_g=1/2", "dcqcn_g and congestion=pfc; expected"},
      {"congestion_step=1us", "congestion_step and congestion=off; expected"},
      {"congestion=pfc,pfc_xon=24475B", "pfc_xon is 24475; expected less than pfc_xoff, 24475"},
      {"congestion=pfc,pfc_xon=0B", "expected room for two packets of 1000 bytes between them"},
      {"congestion=pfc,pfc_xoff=2KB", "expected room for two packets of 1000 bytes between them"},
      {"congestion=dcqcn,ecn_kmin=200KB", "ecn_kmin is 200000; expected less than ecn_kmax"},
      {"congestion=dcqcn,ecn_pmax=0", "ecn_pmax is 0; expected a chance above 0"},
      {"congestion=dcqcn,ecn_pmax=2", "is no chance"},
      {"congestion=dcqcn,dcqcn_g=0.1", "'0.1' is no gain; expected one such as 1/256"},
      {"congestion=dcqcn,dcqcn_g=1/0", "from 1 to 65536"},
      {"congestion=dcqcn,dcqcn_timer=0", "dcqcn_timer: '0'; expected a time above 0"},
      {"congestion=dcqcn,dcqcn_bytes=0", "dcqcn_bytes: '0'; expected a size above 0"},
      // A step in which too much happens, or so little that a run takes for ever.
      {"congestion=dcqcn,congestion_step=13us,rate=1Gbps",
       "expected at most a quarter of the least"},
      {"congestion=pfc,congestion_step=5us,rate=40Gbps",
       "in which a NIC moves 25000 bytes; expected at most 24475, pfc_xoff"},
      {"congestion=dcqcn,congestion_step=4us,rate=400Gbps",
       "expected at most 195000, what is between ecn_kmin and ecn_kmax"},
      {"congestion=pfc,congestion_step=1ps", "congestion_step is 1ps; expected at least 1ns"},
  };
  for (const auto& [text, part] : cases) {
    EXPECT_THAT(error("star:nic=fair," + text), HasSubstr(part)) << text;
  }
  EXPECT_THAT(error("star:congestion=pfc"), HasSubstr("nic=serial"));
}

TEST(CongestionFigures, AreRefusedWhereThereAreNoSuchQueues) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"simgrid:file=x.xml,nic=fair,congestion=pfc", "SimGrid platform file"},
      {"fat-tree:arity=4,routing=spray,nic=fair,congestion=dcqcn", "routing=spray"},
      {"fat-tree:arity=4,routing=adaptive,nic=fair,congestion=dcqcn", "routing=adaptive"},
      {"star:nic=fair,switches=switch,congestion=pfc", "ranks that are switches"},
  };
  for (const auto& [spec, part] : cases) EXPECT_THAT(unsupported(spec), HasSubstr(part)) << spec;
  const Platform platform = parse_platform_spec("star:nic=fair,congestion=pfc");
  EXPECT_THAT(why_no_congestion(platform).value_or(""), HasSubstr("congestion=pfc: this engine"));
  EXPECT_THROW(require_no_congestion(platform, "x"), Unsupported);
}

}  // namespace
}  // namespace slackline::machine
