#include "machine/platform_file.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace slackline::machine {
namespace {

std::string no_source(std::string_view) { return ""; }

TEST(WrittenPlatform, IsReadAsItWasWritten) {
  std::vector<Platform> platforms;
  for (const PresetEntry& preset : presets()) {
    platforms.push_back(platform_from_toml(preset.toml, preset.name));
  }
  for (const char* spec :
       {"star:nic=fair,rate=99.999Gbps,latency=1ps,interleave=0,o_post=1.0005us",
        "two-level:racks=8,hosts=16,oversubscription=3.5,placement=round-robin",
        "two-level:racks=2,hosts=3,uplink=10GBps", "fat-tree:arity=4,placement=random:7",
        "fat-tree:down=4x4,up=1x2,parallel=1x2,link_rate=40Gbps", "torus:dims=4x3x2",
        "dragonfly:groups=3,chassis=2,routers=4,hosts=2,green=1,black=3,blue=5,green_rate=42Gbps",
        "simgrid:file=a \"net\".xml,placement=file:hosts.txt"}) {
    platforms.push_back(parse_platform_spec(spec));
  }
  for (Platform& platform : platforms) {
    for (const char* name : {"plain", "quo\"ted\\", "ümlaut", ""}) {
      platform.name = name;
      const std::string text = platform_to_toml(platform, "a \"summary\"", no_source);
      const Platform again = platform_from_toml(text, "written.toml");
      EXPECT_EQ(again.spec(), platform.spec()) << text;
      EXPECT_EQ(again.name, platform.name) << text;
      EXPECT_EQ(platform_to_toml(again, "a \"summary\"", no_source), text);
    }
  }
}

TEST(WrittenPlatform, SaysWhereFiguresAreFrom) {
  Platform platform;
  platform.name = "p";
  const std::string text = platform_to_toml(platform, "s", [](std::string_view key) {
    return key == "gap" || key == "topology" ? "source of " + std::string(key) : std::string();
  });
  EXPECT_NE(text.find("\n# source of gap\ngap = \"0\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n# source of topology\ntopology = \"star\"\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace slackline::machine
