// What the kernel counts of a thread that has something to do and no processor to do it on.
#include "hw/processor_watch.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "hw/host_cores.h"

namespace slackline {
namespace {

using hw::ProcessorUse;
using hw::ProcessorWatch;
using hw::waited_of_schedstat;

TEST(ProcessorWatch, ReadsWhatTheKernelWrites) {
  EXPECT_EQ(waited_of_schedstat("12 345 6\n"), 345);
  EXPECT_EQ(waited_of_schedstat("12 0 6\n"), 0);
  EXPECT_EQ(waited_of_schedstat("1 9223372036854775807 6"), 9223372036854775807);
  // A kernel that does not count.
  EXPECT_EQ(waited_of_schedstat("0 0 0\n"), std::nullopt);
  for (const char* text :
       {"", "\n", "12", "12 345", "12 -1 6", "x 345 6", "12 345 6x", "1 9223372036854775808 6"}) {
    EXPECT_EQ(waited_of_schedstat(text), std::nullopt) << text;
  }
}

TEST(ProcessorWatch, TheShareIsOfTheTimeThatWasWatched) {
  EXPECT_EQ((ProcessorUse{4, 1, 0}).share(), 0.25);
  EXPECT_EQ((ProcessorUse{4, 0, 0}).share(), 0);
  // Two clocks may differ by a little.
  EXPECT_EQ((ProcessorUse{4, 4.001, 0}).share(), 1);
  EXPECT_EQ((ProcessorUse{4, std::nullopt, 7}).share(), std::nullopt);
  EXPECT_EQ(ProcessorUse().share(), std::nullopt);
}

// Two threads on one core: the other can only have run while this one waited.
TEST(ProcessorWatch, WhoIsKeptFromACoreHasWaited) {
  const std::array<std::uint32_t, 1> core{hw::allowed_cores().front()};
  std::thread pair([&] {
    hw::run_on(core);  // both: the other inherits it
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> rounds{0};
    std::thread other([&] {
      while (!stop) rounds.fetch_add(1, std::memory_order_relaxed);
    });
    ProcessorWatch watch;
    watch.begin();
    // It may have run before, too: this thread may lose the core as it starts it.
    const std::uint64_t before = rounds.load(std::memory_order_relaxed);
    while (rounds.load(std::memory_order_relaxed) == before) {
    }
    watch.end(true);
    const ProcessorUse once = watch.use();
    watch.begin();
    watch.end(false);
    stop = true;
    other.join();
    EXPECT_GT(once.watched_s, 0);
    EXPECT_GE(once.preemptions, 1u);
    if (!once.waited_s) return;  // a kernel that does not count
    EXPECT_GT(*once.waited_s, 0);
    EXPECT_GT(once.share(), 0);
    EXPECT_EQ(watch.use(), once);
    // Times add up.
    watch.begin();
    watch.end(true);
    EXPECT_GT(watch.use().watched_s, once.watched_s);
    EXPECT_GE(watch.use().waited_s, once.waited_s);
  });
  pair.join();
}

}  // namespace
}  // namespace slackline
