#include "hw/host_cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "tests/support/temp_folder.h"

namespace slackline {
namespace {

using Cores = std::vector<std::uint32_t>;

TEST(HostCores, AreThoseOfTheSystem) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  const Cores cores = hw::allowed_cores();
  EXPECT_EQ(cores.size(), static_cast<std::size_t>(CPU_COUNT(&set)));
  for (const std::uint32_t core : cores) EXPECT_TRUE(CPU_ISSET(core, &set)) << core;
  EXPECT_THAT(cores, ::testing::Contains(static_cast<std::uint32_t>(hw::current_core())));
}

// In a thread of its own, since others would stay bound.
TEST(HostCores, AThreadRunsWhereItIsTold) {
  const Cores all = hw::allowed_cores();
  std::thread([&] {
    for (const std::uint32_t core : all) {
      const Cores one{core};
      hw::run_on(one);
      EXPECT_EQ(hw::allowed_cores(), one);
      EXPECT_EQ(hw::current_core(), static_cast<int>(core));
    }
    hw::run_on(all);
    EXPECT_EQ(hw::allowed_cores(), all);
    const Cores none_such{60'000};
    EXPECT_THROW(hw::run_on(none_such), EnvironmentError);
  }).join();
  EXPECT_EQ(hw::allowed_cores(), all);
}

TEST(HostCores, ThreadsThatAreThereStayWhereTheyMayBe) {
  const Cores all = hw::allowed_cores();
  if (all.size() < 2) GTEST_SKIP() << "one core";
  std::thread([&] {
    hw::run_on(std::span(all).first(1));
    Cores later;
    std::thread([&] { later = hw::allowed_cores(); }).join();
    EXPECT_EQ(later, Cores{all.front()});
  }).join();
}

TEST(HostCores, Nodes) {
  const testing::TempFolder root;
  const std::filesystem::path& sys = root.path();
  const auto folder = sys / "devices/system/cpu";
  std::filesystem::create_directories(folder / "cpu0/node0");
  std::filesystem::create_directories(folder / "cpu7/nodes");
  std::filesystem::create_directories(folder / "cpu7/node12");
  std::filesystem::create_directories(folder / "cpu8/cache");
  EXPECT_EQ(hw::node_of_core(0, sys.string()), 0);
  EXPECT_EQ(hw::node_of_core(7, sys.string()), 12);
  EXPECT_EQ(hw::node_of_core(8, sys.string()), -1);
  EXPECT_EQ(hw::node_of_core(9, sys.string()), -1);
}

TEST(HostCores, Lists) {
  EXPECT_EQ(hw::core_list(Cores{}), "");
  EXPECT_EQ(hw::core_list(Cores{5}), "5");
  EXPECT_EQ(hw::core_list(Cores{0, 1}), "0-1");
  EXPECT_EQ(hw::core_list(Cores{0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

}  // namespace
}  // namespace slackline
