// What is taken from a SimGrid platform file, and the one line that a bad one gets.
#include "sim/file_wiring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "machine/paths.h"
#include "sim/platform_xml.h"
#include "sim/simgrid_engine.h"
#include "sim/simgrid_version.h"
#include "tests/support/error_of.h"
#include "tests/support/source_dir.h"
#include "tests/unit/analysis/program.h"

namespace slackline::sim {
namespace {

using machine::Link;
using machine::LinkId;
using machine::Platform;
using machine::Wiring;
using sched::RankId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string data(const std::string& name) {
  return slackline::testing::source_dir() + "/tests/data/" + name;
}

Platform platform_of(const std::string& file, const std::string& figures = "") {
  return machine::parse_platform_spec("simgrid:file=" + file + figures);
}

// Messages between every two ranks.
sched::Schedule all_to_all(std::uint32_t ranks) {
  testing::Program program(ranks);
  for (std::uint32_t s = 0; s < ranks; ++s) {
    for (std::uint32_t d = s + 1; d < ranks; ++d) program.put(program.channel(s, d), 1'000'000);
  }
  return program.build();
}

sched::Schedule to_itself() {
  testing::Program program(1);
  program.put(program.channel(0, 0), 1'000'000);
  return program.build();
}

std::vector<std::string> names_on(const Wiring& wiring, std::uint32_t src, std::uint32_t dst) {
  std::vector<std::string> names;
  for (const LinkId link : wiring.route(RankId(src), RankId(dst)).links) {
    names.push_back(wiring.links()[link.value].name);
  }
  return names;
}

class FileWiring : public ::testing::Test {
 protected:
  ~FileWiring() override { std::filesystem::remove(file_); }

  // A platform of the whole text.
  Platform with(const std::string& text, const std::string& figures = "") {
    std::ofstream(file_) << text;
    return platform_of(file_, figures);
  }
  // What stands in one full zone.
  Platform zone(const std::string& text, const std::string& figures = "",
                const std::string& routing = "Full") {
    return with(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<platform version='4.1'><zone id='z' routing='" +
            routing + "'>\n" + text + "\n</zone></platform>\n",
        figures);
  }
  // The error without the name of the file.
  std::string refusal(const Platform& platform, std::uint32_t ranks = 2) {
    try {
      wiring_of(platform, all_to_all(ranks));
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 2) << error.what();
      std::string line = error.what();
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
      const std::size_t name = line.find(file_);
      EXPECT_NE(name, std::string::npos) << line;
      return name == std::string::npos ? line : line.replace(name, file_.size(), "FILE");
    }
    return "(no error)";
  }

  std::string file_ = "file-wiring-" + std::to_string(getpid()) + ".xml";
};

constexpr const char* kHosts = "<host id='a' speed='1f'/><host id='b' speed='1f'/>";
constexpr const char* kLink = "<link id='l' bandwidth='8Gbps' latency='3us'/>";
constexpr const char* kRoute = "<route src='a' dst='b'><link_ctn id='l'/></route>";

TEST_F(FileWiring, IsTheWiringOfAnyOtherTopology) {
  const Wiring wiring = wiring_of(machine::parse_platform_spec("torus:dims=2x2"), all_to_all(4));
  EXPECT_EQ(wiring.links().size(),
            Wiring(machine::parse_platform_spec("torus:dims=2x2"), 4).links().size());
}

// Link by link: the same rates, the same ways and the same latencies, but for a core that is in
// nobody's way.
TEST_F(FileWiring, TwoRacksAreATwoLevelNetwork) {
  const sched::Schedule schedule = all_to_all(6);
  const Wiring file = wiring_of(platform_of(data("two_racks.xml")), schedule);
  const Wiring generated(
      machine::parse_platform_spec("two-level:racks=2,hosts=3,rate=100Gbps,uplink=150Gbps,"
                                   "latency=1us,hop_latency=250ns"),
      6);
  std::map<std::string, std::string> known = {{"rack-0.up", "uplink-0_UP"},
                                              {"rack-0.down", "uplink-0_DOWN"},
                                              {"rack-1.up", "rack-1.up"},
                                              {"rack-1.down", "rack-1.down"}};
  for (int h = 0; h < 6; ++h) {
    known["host-" + std::to_string(h) + ".out"] = "cable-" + std::to_string(h) + "_UP";
    known["host-" + std::to_string(h) + ".in"] = "cable-" + std::to_string(h) + "_DOWN";
  }
  ASSERT_EQ(file.links().size(), generated.links().size() + 1);
  for (const Link& link : generated.links()) {
    const auto same = file.find_link(known.at(link.name));
    ASSERT_TRUE(same) << link.name;
    EXPECT_EQ(file.links()[same->value].rate, link.rate) << link.name;
    EXPECT_TRUE(file.links()[same->value].shared) << link.name;
  }
  const auto core = file.find_link("core");
  ASSERT_TRUE(core);
  EXPECT_FALSE(file.links()[core->value].shared);
  for (std::uint32_t s = 0; s < 6; ++s) {
    EXPECT_EQ(file.host_name(RankId(s)), "node-" + std::to_string(s));
    for (std::uint32_t d = 0; d < 6; ++d) {
      if (s == d) continue;
      EXPECT_EQ(file.route(RankId(s), RankId(d)).latency,
                generated.route(RankId(s), RankId(d)).latency);
      std::vector<std::string> expected;
      for (const std::string& name : names_on(generated, s, d)) {
        expected.push_back(known.at(name));
        if (name.starts_with("rack-") && name.ends_with(".up")) expected.emplace_back("core");
      }
      EXPECT_EQ(names_on(file, s, d), expected) << s << " to " << d;
    }
  }
}

TEST_F(FileWiring, LinksStandInTheOrderOfTheirNames) {
  const Wiring wiring = wiring_of(platform_of(data("two_racks.xml")), all_to_all(6));
  std::vector<std::string> names;
  for (const Link& link : wiring.links()) names.push_back(link.name);
  EXPECT_THAT(names, ElementsAre("cable-0_DOWN", "cable-0_UP", "cable-1_DOWN", "cable-1_UP",
                                 "cable-2_DOWN", "cable-2_UP", "cable-3_DOWN", "cable-3_UP",
                                 "cable-4_DOWN", "cable-4_UP", "cable-5_DOWN", "cable-5_UP", "core",
                                 "rack-1.down", "rack-1.up", "uplink-0_DOWN", "uplink-0_UP"));
}

TEST_F(FileWiring, HostsStandInTheOrderOfTheFile) {
  const Wiring wiring = wiring_of(
      zone("<host id='zed' speed='1f'/><host id='12' speed='1f'/><host id='a b' speed='1f'/>" +
           std::string(kLink) +
           "<route src='zed' dst='12'><link_ctn id='l'/></route>"
           "<route src='zed' dst='a b'><link_ctn id='l'/></route>"
           "<route src='12' dst='a b'><link_ctn id='l'/></route>"),
      all_to_all(3));
  EXPECT_EQ(wiring.host_name(RankId(0)), "zed");
  EXPECT_EQ(wiring.host_name(RankId(1)), "12");
  EXPECT_EQ(wiring.host_name(RankId(2)), "a b");
}

TEST_F(FileWiring, RanksArePlaced) {
  const auto hosts = [&](const std::string& figures, std::uint32_t ranks) {
    const Wiring wiring = wiring_of(platform_of(data("two_racks.xml"), figures), all_to_all(ranks));
    std::string names;
    for (std::uint32_t r = 0; r < ranks; ++r) names += wiring.host_name(RankId(r)).substr(4);
    return names;
  };
  EXPECT_EQ(hosts("", 4), "-0-1-2-3");
  EXPECT_EQ(hosts(",placement=round-robin", 5), "-0-3-1-4-2");
  // As on a generated network of as many hosts.
  const Wiring generated(
      machine::parse_platform_spec("two-level:racks=2,hosts=3,placement=random:7"), 6);
  std::string expected;
  for (std::uint32_t r = 0; r < 6; ++r) expected += generated.host_name(RankId(r)).substr(4);
  EXPECT_EQ(hosts(",placement=random:7", 6), expected);
  std::ofstream(file_) << "# ours\nnode-5\n0\n node-2 \n";
  EXPECT_EQ(hosts(",placement=file:" + file_, 3), "-5-0-2");
}

// A name comes before a number.
TEST_F(FileWiring, AHostMayBeCalledByANumber) {
  const std::string placement = file_ + ".hosts";
  std::ofstream(placement) << "0\n1\n";
  const Wiring wiring =
      wiring_of(zone("<host id='1' speed='1f'/><host id='0' speed='1f'/>" + std::string(kLink) +
                         "<route src='0' dst='1'><link_ctn id='l'/></route>",
                     ",placement=file:" + placement),
                all_to_all(2));
  EXPECT_EQ(wiring.host_name(RankId(0)), "0");
  EXPECT_EQ(wiring.host_name(RankId(1)), "1");
  std::filesystem::remove(placement);
}

TEST_F(FileWiring, UnitsAreRead) {
  const Wiring wiring =
      wiring_of(zone(std::string(kHosts) +
                     "<link id='l' bandwidth='1.5GiBps' latency='0.0000012345678s'/>"
                     "<link id='f' bandwidth='1kbps' latency='1ps' sharing_policy='FATPIPE'/>"
                     "<route src='a' dst='b'><link_ctn id='l'/><link_ctn id='f'/></route>"),
                all_to_all(2));
  EXPECT_EQ(wiring.links()[1].rate.bits_per_second, 3ull << 32);
  EXPECT_EQ(wiring.links()[0].rate.bits_per_second, 1000u);
  EXPECT_EQ(wiring.route(RankId(0), RankId(1)).latency, machine::Time{1'234'569});
}

// SimGrid's factors are for its own models; a file that asks for them does not get them.
TEST_F(FileWiring, ConfigurationChangesNothing) {
  const std::string zone_text =
      "<zone id='z' routing='Full'>" + std::string(kHosts) + kLink + kRoute + "</zone>";
  const std::string head =
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version='4.1'>";
  const sched::Schedule schedule = all_to_all(2);
  const Platform plain = with(head + zone_text + "</platform>");
  const double plain_s = run_simgrid({schedule, plain, wiring_of(plain, schedule)}).makespan_s();
  const Platform configured = with(head +
                                   "<config><prop id='network/model' value='SMPI'/>"
                                   "<prop id='network/bandwidth-factor' value='0.5'/>"
                                   "<prop id='network/latency-factor' value='9'/>"
                                   "<prop id='network/crosstraffic' value='1'/></config>" +
                                   zone_text + "</platform>");
  EXPECT_EQ(run_simgrid({schedule, configured, wiring_of(configured, schedule)}).makespan_s(),
            plain_s);
  // 1 MB at 1 GB/s there, then 3 us to arrive and 3 us to be known.
  EXPECT_NEAR(plain_s, 1e-3 + 6e-6, 1e-15);
}

TEST_F(FileWiring, AWayToOneselfIsTheFilesOrSimGrids) {
  EXPECT_THAT(names_on(wiring_of(zone(std::string(kHosts) + kLink +
                                      "<route src='a' dst='a'><link_ctn id='l'/></route>"),
                                 to_itself()),
                       0, 0),
              ElementsAre("l"));
  const Platform without = zone(std::string(kHosts) + kLink + kRoute);
  EXPECT_THAT(names_on(wiring_of(without, to_itself()), 0, 0), ElementsAre("__loopback__"));
  EXPECT_GT(run_simgrid({to_itself(), without, wiring_of(without, to_itself())}).makespan_s(), 0);
  EXPECT_EQ(wiring_of(without, all_to_all(2)).links().size(), 1u);
}

TEST_F(FileWiring, NothingOfSimGridsIsSaid) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  refusal(with("no XML"));
  refusal(zone(std::string(kHosts) + kLink + kLink));
  wiring_of(zone(std::string(kHosts) + kLink + kRoute), all_to_all(2));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(FileWiring, FilesThatSimGridRefuses) {
  std::filesystem::remove(file_);
  EXPECT_EQ(refusal(platform_of(file_)),
            "platform file 'FILE': cannot be read; expected a SimGrid platform file");
  constexpr const char* kExpected = "; expected a SimGrid platform file";
  const auto expect = [&](const Platform& platform, const std::string& start) {
    const std::string line = refusal(platform);
    EXPECT_THAT(line, StartsWith(start));
    EXPECT_THAT(line, ::testing::EndsWith(kExpected));
  };
  expect(with(""), "'FILE'");
  expect(with("no XML"), "'FILE':1: SimGrid refuses it: Invalid XML");
  expect(with("[network]\ntopology = \"star\"\n"), "'FILE':1: SimGrid refuses it: Invalid XML");
  expect(with("<html>\n<body></body></html>"), "'FILE':1: SimGrid refuses it: Invalid XML");
  expect(zone("<host id='a'"), "'FILE':");
  expect(zone(std::string("<bus/>") + kHosts), "'FILE':4: SimGrid refuses it: Invalid XML");
  expect(with("<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n<platform "
              "version='3'>\n</platform>"),
         "'FILE':2: SimGrid refuses it: THIS FILE IS TOO OLD (v:3.0)");
  expect(zone(std::string(kHosts) + kRoute), "'FILE'");
  expect(zone(std::string(kHosts) + kLink + "<route src='a' dst='c'><link_ctn id='l'/></route>"),
         "'FILE':4: SimGrid refuses it: Route dst='c' does name a node;");
  expect(zone("<host id='a' speed='1f'/><host id='a' speed='1f'/>"),
         "'FILE': SimGrid refuses it: Refusing to create a second host named 'a';");
  expect(zone(std::string(kLink) + kLink),
         "'FILE': SimGrid refuses it: Link 'l' declared several times in the platform;");
  expect(zone("<link id='l' bandwidth='fast' latency='1us'/>"), "'FILE':4: SimGrid refuses it: ");
  expect(zone("<link id='l' bandwidth='1GBps' latency='1lightyear'/>"),
         "'FILE':4: SimGrid refuses it: unknown unit: lightyear;");
  expect(zone("<link id='l' latency='1us'/>"), "'FILE':4: SimGrid refuses it: Invalid XML");
  expect(zone(kHosts, "", "Wormhole"), "'FILE': SimGrid refuses it: Not a valid model!;");
}

TEST_F(FileWiring, NetworksThatCannotBeUsed) {
  const std::string hosts = kHosts;
  EXPECT_EQ(refusal(zone(hosts + kLink + kRoute), 3),
            "platform 'simgrid:file=FILE': 3 ranks on 2 hosts; expected no more ranks than hosts");
  EXPECT_EQ(refusal(with("<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n<platform "
                         "version='4.1'>\n</platform>")),
            "platform 'simgrid:file=FILE': 2 ranks on 0 hosts; expected no more ranks than hosts");
  constexpr const char* kNoRoute =
      "'FILE': no route from 'a' to 'b'; expected one, as their ranks have messages for each other";
  EXPECT_EQ(refusal(zone(hosts + kLink)), kNoRoute);
  EXPECT_EQ(refusal(zone(hosts + kLink +
                         "<route src='b' dst='a' symmetrical='NO'><link_ctn id='l'/></route>")),
            kNoRoute);
  // The acknowledgements have no way back.
  EXPECT_THAT(refusal(zone(hosts + kLink +
                           "<route src='a' dst='b' symmetrical='NO'><link_ctn id='l'/></route>")),
              StartsWith("'FILE': no route from 'b' to 'a'; expected one"));
  for (const std::string routing : {"Floyd", "Dijkstra", "DijkstraCache"}) {
    EXPECT_EQ(refusal(zone(hosts + "<host id='c' speed='1f'/>" + kLink +
                               "<route src='b' dst='c'><link_ctn id='l'/></route>",
                           "", routing)),
              kNoRoute)
        << routing;
  }
  EXPECT_EQ(refusal(zone("<link id='l' bandwidth='-1GBps' latency='1us'/>" + hosts + kRoute)),
            "'FILE': link 'l' has a bandwidth of -1000000000 bytes per second; expected 1 bps to "
            "9e18 bps");
  EXPECT_THAT(refusal(zone("<link id='l' bandwidth='0Bps' latency='1us'/>" + hosts + kRoute)),
              StartsWith("'FILE': link 'l' has a bandwidth of 0 bytes per second; expected 1 bps"));
  EXPECT_THAT(refusal(zone("<link id='l' bandwidth='1e30Bps' latency='1us'/>" + hosts + kRoute)),
              StartsWith("'FILE': link 'l' has a bandwidth of 1e+30 bytes per second; expected"));
  EXPECT_EQ(refusal(zone("<link id='l' bandwidth='1GBps' latency='-1us'/>" + hosts + kRoute)),
            "'FILE': link 'l' has a latency of -1e-06 s; expected 0 or more");
  // Also where another link's would hide it, and on links that nobody uses.
  const std::string two = "<link id='m' bandwidth='1GBps' latency='2us'/>" + hosts +
                          "<route src='a' dst='b'><link_ctn id='l'/><link_ctn id='m'/></route>";
  EXPECT_EQ(refusal(zone("<link id='l' bandwidth='1GBps' latency='-1us'/>" + two)),
            "'FILE': link 'l' has a latency of -1e-06 s; expected 0 or more");
  for (const std::string wrong : {"nan", "inf", "1e400s"}) {
    EXPECT_NE(refusal(zone("<link id='u' bandwidth='1GBps' latency='" + wrong + "'/>" + hosts +
                           kLink + kRoute)),
              "(no error)")
        << wrong;
    EXPECT_NE(refusal(zone("<link id='u' bandwidth='" + wrong + "' latency='1us'/>" + hosts +
                           kLink + kRoute)),
              "(no error)")
        << wrong;
  }
  EXPECT_EQ(refusal(zone("<link id='u' bandwidth='1GBps' latency='-1us' "
                         "sharing_policy='SPLITDUPLEX'/>" +
                         hosts + kLink + kRoute)),
            "'FILE': link 'u_DOWN' has a latency of -1e-06 s; expected 0 or more");
  const std::string cluster =
      "<cluster id='c' prefix='n' suffix='' radical='0-1' speed='1f' bw='1GBps' ";
  for (const std::string wrong : {"lat='-1us'", "lat='1us' bb_bw='1GBps' bb_lat='-1us'",
                                  "lat='1us' loopback_bw='1GBps' loopback_lat='-1us'"}) {
    EXPECT_THAT(refusal(with("<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
                             "\"https://simgrid.org/simgrid.dtd\">\n<platform version='4.1'>" +
                             cluster + wrong + "/></platform>\n")),
                HasSubstr("has a latency of -1e-06 s; expected 0 or more"))
        << wrong;
  }
  EXPECT_THAT(refusal(zone("<link id='l' bandwidth='1GBps' latency='1e9s'/>" + hosts + kRoute)),
              HasSubstr("has a latency of 1000000000 s; expected 0 or more"));
  EXPECT_EQ(refusal(zone("<link id='l' bandwidth='1GBps' latency='1us' sharing_policy='WIFI'/>" +
                         hosts + kRoute)),
            "'FILE': link 'l' is a WIFI link; expected SHARED, SPLITDUPLEX or FATPIPE ones");
  const std::string placement = file_ + ".hosts";
  std::ofstream(placement) << "a\nc\n";
  EXPECT_THAT(refusal(zone(hosts + kLink + kRoute, ",placement=file:" + placement)),
              HasSubstr(".hosts':2: 'c' is no host; expected a … b or a number below 2"));
  std::filesystem::remove(placement);
}

TEST_F(FileWiring, RoundRobinNeedsZonesOfOneSize) {
  const std::string two = "<zone id='x' routing='Full'>" + std::string(kHosts) + kLink + kRoute +
                          "</zone><zone id='y' routing='Full'><host id='c' speed='1f'/></zone>";
  EXPECT_EQ(refusal(zone(two, ",placement=round-robin")),
            "'FILE': round-robin placement needs zones of equally many hosts; expected packed, "
            "random:SEED or file:PATH");
  EXPECT_EQ(refusal(zone(two)), "(no error)");
}

TEST_F(FileWiring, ProfilesAreUnsupported) {
  const std::string hosts = kHosts;
  constexpr const char* kExpected =
      "; expected no profiles: what changes in time stands in a delay plan";
  for (const std::string profile : {"availability_file", "speed_file", "state_file"}) {
    EXPECT_EQ(refusal(zone("<host id='a'\n speed='1f' " + profile + "='x'/>")),
              "'FILE':4: host 'a' has a " + profile + kExpected);
  }
  for (const std::string profile : {"bandwidth_file", "latency_file", "state_file"}) {
    EXPECT_EQ(refusal(zone(hosts + "\n<link id=\"l\" bandwidth='1Bps' latency='0s' " + profile +
                           " = \"x\"/>")),
              "'FILE':5: link 'l' has a " + profile + kExpected);
  }
  EXPECT_EQ(refusal(zone(hosts + kLink +
                         "<trace id='t' periodicity='1.0'>0 1</trace>\n"
                         "<trace_connect kind='BANDWIDTH' trace='t' element='l'/>")),
            "'FILE':5: a profile for 'l'; expected none: what changes in time stands in a delay "
            "plan");
  EXPECT_THAT(refusal(with("<platform><cluster id='c' radical='0-2000000000'/></platform>")),
              StartsWith("'FILE':1: cluster 'c' has too many hosts; expected at most 1048576"));
  try {
    wiring_of(zone("<host id='a' speed='1f' state_file='x'/>"), all_to_all(2));
    ADD_FAILURE() << "expected Unsupported";
  } catch (const Unsupported&) {
  }
}

// What only looks like a profile is none.
TEST_F(FileWiring, CommentsAndOtherTextAreNoTags) {
  EXPECT_EQ(refusal(zone("<!-- <host id='x' state_file='y'/> > -->\n"
                         "<prop id='note' value='state_file=\"x\"'/>" +
                         std::string(kHosts) + kLink + kRoute)),
            "(no error)");
  EXPECT_NO_THROW(
      check_platform_xml("<a b='<trace_connect/>'/><![CDATA[<c state_file='x'>]]>", ""));
  EXPECT_THROW(check_platform_xml("<a b='1'state_file=''/>", ""), Unsupported);
}

// Whatever stands there, the scan ends.
TEST_F(FileWiring, TheScanTakesAnyText) {
  const std::string whole =
      "<?x?><!-- c --><!DOCTYPE p><![CDATA[d]]><p a='b' c=\"d\"><q e=f g/><r radical='0-3,5-x,-'/>";
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    EXPECT_NO_THROW(check_platform_xml(whole.substr(0, cut), "x")) << cut;
    EXPECT_NO_THROW(check_platform_xml(whole.substr(cut), "x")) << cut;
  }
}

// A shared link that a way passes twice has half its rate for it, in SimGrid and elsewhere.
TEST_F(FileWiring, ALinkPassedTwice) {
  const std::string body = std::string(kHosts) + kLink +
                           "<route src='a' dst='b'><link_ctn id='l'/><link_ctn id='l'/></route>";
  const Platform platform = zone(body);
  const sched::Schedule schedule = all_to_all(2);
  const Wiring wiring = wiring_of(platform, schedule);
  const machine::Paths paths(schedule, wiring, {});
  EXPECT_EQ(paths[machine::PathId(0)].bytes_per_s, 5e8);
  EXPECT_NEAR(run_simgrid({schedule, platform, wiring}).makespan_s(), 2e-3 + 12e-6, 1e-14);
}

TEST_F(FileWiring, ASealedNetworkIsReadAgainAndAgain) {
  const sched::Schedule schedule = all_to_all(6);
  const Platform platform = platform_of(data("two_racks.xml"));
  const double once_s =
      run_simgrid({schedule, platform, wiring_of(platform, schedule)}).makespan_s();
  EXPECT_EQ(run_simgrid({schedule, platform, wiring_of(platform, schedule)}).makespan_s(), once_s);
}

std::string of_xml(const std::string& text) {
  return slackline::testing::error_of([&] { check_platform_xml(text, "FILE"); });
}

TEST(PlatformXml, HostsAreCountedBeforeSimGridMakesThem) {
  std::string hosts = "<platform>\n";
  for (std::uint32_t i = 0; i < machine::kMaxHosts; ++i) hosts += "<host/>";
  EXPECT_EQ(of_xml(hosts), "");
  EXPECT_EQ(of_xml(hosts + "\n<host id='last'/>"),
            "'FILE':3: with host 'last' there are too many hosts; expected at most 1048576");
  const std::string half = "<cluster id='c' radical='0-524287'/>";
  EXPECT_EQ(of_xml(half + half), "");
  EXPECT_EQ(of_xml(half + half + "<peer id='p'/>"),
            "'FILE':1: with peer 'p' there are too many hosts; expected at most 1048576");
}

TEST(PlatformXml, ClustersThatSimGridDoesNotSurviveAreRefused) {
  const std::string tree = "<cluster id='c' topology='FAT_TREE' radical='0-1'/>";
  EXPECT_EQ(of_xml("<platform><zone>" + tree + "</zone></platform>"), "");
  EXPECT_EQ(of_xml("<platform><cluster id='c' topology='FLAT' radical='0-1'/></platform>"), "");
  EXPECT_EQ(of_xml("<platform>" + tree + "</platform>"),
            reads_bare_clusters()
                ? ""
                : "'FILE':1: cluster 'c' has topology 'FAT_TREE' and stands in no zone, which this "
                  "version of SimGrid does not read; expected it in a <zone routing=\"Full\">");
}

TEST(PlatformXml, ZonesInZonesHaveABound) {
  const auto nested = [](int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "<zone id='z'>";
    text += "<zone id='in' a='>' /><zone id='in'/>";
    for (int i = 0; i < depth; ++i) text += "</zone>";
    return text;
  };
  EXPECT_EQ(of_xml(nested(100) + nested(100)), "");
  EXPECT_EQ(of_xml(nested(101)), "'FILE':1: zone 'in' stands in 101 others; expected at most 100");
  EXPECT_EQ(of_xml(nested(100'000)),
            "'FILE':1: zone 'z' stands in 101 others; expected at most 100");
}

}  // namespace
}  // namespace slackline::sim
