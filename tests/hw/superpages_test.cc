// Regions of memory: what they say of their pages is what the kernel says, whatever it has.
#include "hw/memory/superpages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "hw/memory/transparent_pages.h"
#include "hw/numa_nodes.h"

namespace slackline::hw {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kHuge = std::size_t{2} << 20;

Superpages made(std::uint64_t bytes, PageKind best) {
  SuperpageWish wish;
  wish.bytes = bytes;
  wish.best = best;
  return Superpages(wish);
}

std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

// By another way than the region's own: words of smaps' lines.
std::uint64_t huge_by_smaps(const Superpages& pages) {
  std::ifstream smaps("/proc/self/smaps");
  std::stringstream wanted;
  wanted << std::hex << address(pages.bytes().data()) << '-';
  std::uint64_t kib = 0;
  bool within = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find("-p ") != std::string::npos) within = line.starts_with(wanted.str());
    std::istringstream words(line);
    std::string name;
    std::uint64_t number = 0;
    if (within && words >> name >> number && name == "AnonHugePages:") kib += number;
  }
  return kib * 1024;
}

// Whether all bytes are alike.
bool all_are(std::span<const std::byte> bytes, std::byte value) {
  return bytes[0] == value && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

std::uint64_t mapped_pages() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

TEST(Superpages, AreZeroAndWritableToTheLastByte) {
  for (const PageKind best : {PageKind::kNormal, PageKind::kTransparent, PageKind::kSetAside}) {
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{4097}, kHuge - 1, kHuge, kHuge + 1, 5 * kHuge + 12345}) {
      const Superpages pages = made(bytes, best);
      ASSERT_EQ(pages.bytes().size(), bytes);
      EXPECT_TRUE(all_are(pages.bytes(), std::byte{0}));
      std::memset(pages.bytes().data(), 0xff, bytes);
      EXPECT_TRUE(all_are(pages.bytes(), std::byte{0xff}));
      EXPECT_EQ(address(pages.bytes().data()) % kHuge, 0u);
    }
  }
}

TEST(Superpages, SayWhatTheyHaveGot) {
  const auto usual = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const Superpages normal = made(4 * kHuge, PageKind::kNormal);
  EXPECT_EQ(normal.facts().kind, PageKind::kNormal);
  EXPECT_EQ(normal.facts().page_bytes, usual);
  EXPECT_EQ(normal.facts().bytes, 4 * kHuge);
  EXPECT_EQ(huge_by_smaps(normal), 0u);

  const Superpages transparent = made(4 * kHuge, PageKind::kTransparent);
  const std::uint64_t in_huge = huge_by_smaps(transparent);
  if (in_huge == 0) {  // the kernel makes none
    EXPECT_EQ(transparent.facts().kind, PageKind::kNormal);
    EXPECT_EQ(transparent.facts().page_bytes, usual);
    EXPECT_EQ(transparent.facts().bytes, 4 * kHuge);
  } else {
    EXPECT_EQ(transparent.facts().kind, PageKind::kTransparent);
    EXPECT_EQ(transparent.facts().page_bytes, kHuge);
    EXPECT_EQ(transparent.facts().bytes, in_huge);
  }

  // Those that were set aside have no such line, and are taken only where there are some.
  const Superpages best = made(4 * kHuge, PageKind::kSetAside);
  if (best.facts().kind == PageKind::kSetAside) {
    EXPECT_EQ(best.facts().bytes, 4 * kHuge);
    EXPECT_EQ(huge_by_smaps(best), 0u);
  } else {
    EXPECT_EQ(best.facts().kind == PageKind::kTransparent, huge_by_smaps(best) != 0);
  }
  // Too small for any.
  EXPECT_EQ(made(kHuge - 1, PageKind::kSetAside).facts().kind, PageKind::kNormal);
}

TEST(Superpages, StandOnTheNodeThatTheySay) {
  const std::vector<int> nodes = NumaNodes::of_this_machine().numbers();
  const Superpages any = made(kHuge, PageKind::kTransparent);
  if (nodes.empty()) {
    EXPECT_EQ(any.facts().node, -1);
  } else if (nodes.size() == 1) {
    EXPECT_EQ(any.facts().node, nodes.front());
  }
  SuperpageWish wish;
  wish.bytes = kHuge;
  wish.only_node = true;
  for (const int node : nodes) {
    wish.node = node;
    EXPECT_EQ(Superpages(wish).facts().node, node);
  }
  wish.node = 1000;
  try {
    Superpages none(wish);
    ADD_FAILURE() << "a node that there is not";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("there is no NUMA node 1000; this machine has"));
  }
}

TEST(Superpages, MoveAndAreGivenBack) {
  Superpages pages = made(kHuge, PageKind::kTransparent);
  std::byte* const start = pages.bytes().data();
  Superpages moved(std::move(pages));
  EXPECT_EQ(moved.bytes().data(), start);
  moved = Superpages();
  EXPECT_TRUE(moved.empty());
  EXPECT_TRUE(moved.bytes().empty());
  const std::uint64_t before = mapped_pages();
  for (int i = 0; i < 40; ++i) made(kHuge, PageKind::kNormal).bytes()[0] = std::byte{1};
  EXPECT_LT(mapped_pages(), before + 512) << "40 times as many were made";
}

TEST(Superpages, WhatCannotBeIsRefused) {
  EXPECT_THROW(made(0, PageKind::kSetAside), InputError);
  for (const PageKind best : {PageKind::kNormal, PageKind::kTransparent, PageKind::kSetAside}) {
    EXPECT_THROW(made(std::uint64_t{1} << 45, best), EnvironmentError);
    EXPECT_THROW(made(~std::uint64_t{0}, best), EnvironmentError);
  }
}

TEST(PageFacts, AreToldToPeople) {
  PageFacts facts{PageKind::kSetAside, std::uint64_t{1} << 30, std::uint64_t{2} << 30, 1};
  EXPECT_EQ(to_string(facts), "2 GiB in huge pages of 1 GiB, set aside, on NUMA node 1");
  facts = {PageKind::kTransparent, kHuge, 3 * kHuge, 0};
  EXPECT_EQ(to_string(facts), "6 MiB in huge pages of 2 MiB, made by the kernel, on NUMA node 0");
  facts = {PageKind::kNormal, 4096, 8192, -1};
  EXPECT_EQ(to_string(facts), "8 KiB in pages of 4 KiB, on no NUMA node that is known");
}

TEST(TransparentPages, AreSummedOverMappingsWithin) {
  const std::string text =
      "1000-3000 rw-p 00000000 00:00 0 \n"
      "Size:               8 kB\n"
      "AnonHugePages:      4 kB\n"
      "VmFlags: rd wr mr\n"
      "3000-4000 rw-p 00000000 00:00 0                 [heap]\n"
      "AnonHugePages:    2048 kB\n"
      "4000-6000 rw-p 00000000 00:00 0 \n"
      "AnonHugePages:      1 kB\n"
      "ShmemPmdMapped:   512 kB\n"
      "AnonHugePages:\n";
  const auto sum = [&](std::uint64_t begin, std::uint64_t end) {
    std::istringstream smaps(text);
    return transparent_huge_bytes(smaps, begin, end);
  };
  EXPECT_EQ(sum(0x1000, 0x6000), 2053u * 1024);
  EXPECT_EQ(sum(0x1000, 0x3000), 4u * 1024);
  EXPECT_EQ(sum(0x3000, 0x4000), 2048u * 1024);
  EXPECT_EQ(sum(0x1001, 0x4000), 2048u * 1024) << "wholly within";
  EXPECT_EQ(sum(0x6000, 0x7000), 0u);
  std::istringstream nothing("no such file\n-\n:\n");
  EXPECT_EQ(transparent_huge_bytes(nothing, 0, ~std::uint64_t{0}), 0u);
}

}  // namespace
}  // namespace slackline::hw
