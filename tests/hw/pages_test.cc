#include "hw/pages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "base/error.h"

namespace slackline::hw {
namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;

std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

TEST(Pages, AreZeroAndWritableToTheLastByte) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{4097}, kHuge - 1,
                                  kHuge, kHuge + 1, 5 * kHuge + 12345}) {
    const Pages pages(bytes);
    ASSERT_EQ(pages.bytes().size(), bytes);
    EXPECT_TRUE(std::all_of(pages.bytes().begin(), pages.bytes().end(),
                            [](std::byte byte) { return byte == std::byte{0}; }));
    std::fill(pages.bytes().begin(), pages.bytes().end(), std::byte{0xff});
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    EXPECT_EQ(address(pages.bytes().data()) % (bytes >= kHuge ? kHuge : page), 0u) << bytes;
    EXPECT_FALSE(bytes < kHuge && pages.set_aside());
  }
}

TEST(Pages, AreGivenBackAndMove) {
  // More in sum than any machine lets a process map.
  for (int i = 0; i < 140'000; ++i) Pages(std::size_t{1} << 30);
  Pages pages(10);
  std::byte* const start = pages.bytes().data();
  const Pages moved(std::move(pages));
  EXPECT_EQ(moved.bytes().data(), start);
  EXPECT_TRUE(Pages().bytes().empty());
}

TEST(Pages, ComeFromAnywhereIfTheNodeIsNotThere) {
  for (const int node : {0, 1, 63, 64, 1000, 1023, 1024, 1'000'000}) {
    const Pages pages(3 * kHuge, node);
    ASSERT_EQ(pages.bytes().size(), 3 * kHuge) << node;
    EXPECT_TRUE(std::all_of(pages.bytes().begin(), pages.bytes().end(), [](std::byte byte) {
      return byte == std::byte{0};
    })) << node;
    pages.bytes().back() = std::byte{1};
    EXPECT_EQ(pages.bytes().back(), std::byte{1}) << node;
  }
}

TEST(Pages, MoreThanThereAreIsTheMachinesFault) {
  for (const std::size_t bytes : {std::size_t{1} << 50, std::size_t{1} << 62, SIZE_MAX}) {
    EXPECT_THROW(Pages{bytes}, EnvironmentError) << bytes;
  }
}

// Counts registrations, and does nothing else.
class Registrar final : public Transport {
 public:
  std::map<std::uint32_t, std::span<std::byte>> registered;

  std::string_view name() const override { return "registrar"; }
  LocalMemory register_memory(std::span<std::byte> memory) override {
    registered[next_] = memory;
    return {next_, {1000 * std::uint64_t{next_}, next_++}};
  }
  void unregister_memory(const LocalMemory& memory) override { registered.erase(memory.handle); }
  Address open(std::span<const ChannelEnd>) override { return {}; }
  void connect(std::span<const Address>) override {}
  void close(std::span<const ChannelEnd>) override {}
  std::size_t post(std::span<const WorkRequest>) override { return 0; }
  std::size_t poll(std::span<Completion>) override { return 0; }
  void wait(std::chrono::nanoseconds, int) override {}
  std::size_t max_segments() const override { return 1; }
  bool completes_in_order() const override { return true; }
  bool writes_in_order() const override { return true; }
  bool has_atomics() const override { return false; }

 private:
  std::uint32_t next_ = 7;
};

TEST(Slabs, RegisterOnceForManyUnits) {
  Registrar registrar;
  {
    Slabs slabs(registrar, 100, 4);
    std::vector<Slabs::Unit> units;
    for (int u = 0; u < 9; ++u) units.push_back(slabs.take());
    EXPECT_EQ(registrar.registered.size(), 3u);
    std::set<std::uintptr_t> starts;
    for (const Slabs::Unit& unit : units) {
      ASSERT_EQ(unit.local.bytes, 100u);
      EXPECT_EQ(address(unit.local.data) % 64, 0u);
      const std::span<std::byte> slab = registrar.registered.at(unit.local.handle);
      const auto offset = static_cast<std::size_t>(unit.local.data - slab.data());
      ASSERT_LE(offset + 100, slab.size());
      EXPECT_EQ(unit.remote.address, 1000 * std::uint64_t{unit.local.handle} + offset);
      EXPECT_EQ(unit.remote.key, unit.local.handle);
      starts.insert(address(unit.local.data) / 128);
    }
    EXPECT_EQ(starts.size(), 9u) << "two units share bytes";
    // What was given back is taken again before another slab is made.
    const std::byte* const before = units[4].local.data;
    slabs.give_back(units[4]);
    EXPECT_EQ(slabs.take().local.data, before);
    for (int u = 0; u < 3; ++u) slabs.take();
    EXPECT_EQ(registrar.registered.size(), 3u);
    slabs.take();
    EXPECT_EQ(registrar.registered.size(), 4u);
  }
  EXPECT_TRUE(registrar.registered.empty());
}

}  // namespace
}  // namespace slackline::hw
