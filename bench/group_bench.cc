// What a message of a group takes among processes of this host, with and without atomic delivery.
//
// usage: group_bench TRANSPORT [RANKS [MESSAGES]]
//
// For each size: the time from send() to the last receiver's completion(), one message at a time,
// by turns plain and atomic, and of small messages also by the ring of slots; the least and the
// median; and messages a second when they are sent one behind the other, the median of five series.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/now.h"
#include "bench/local_ranks.h"
#include "hw/group.h"
#include "hw/mesh.h"
#include "hw/transports.h"

namespace {

using namespace slackline;

constexpr std::uint32_t kMostRanks = 64;
constexpr std::uint64_t kSmall = 10'240;  // Derecho's

struct Way {
  const char* name;
  bool atomic;
  bool small;
};
constexpr Way kWays[] = {{"plain", false, false},
                         {"atomic", true, false},
                         {"small", false, true},
                         {"small atomic", true, true}};

// Seen by all processes: messages completed, and when the latest was, by rank, on a cache line
// each.
struct alignas(64) Count {
  std::atomic<std::uint64_t> completed{0};
  std::atomic<std::int64_t> at_ns{0};
};

class Bench {
 public:
  Bench(Count* counts, const hw::MeshOptions& options, const std::string& transport,
        std::size_t messages)
      : counts_(counts),
        mesh_(options),
        groups_(mesh_, [transport] { return hw::make_transport(transport, {}); }),
        messages_(messages) {}

  void run() {
    if (mesh_.rank() == 0) {
      fmt::print("{:>9} {:>12} {:>10} {:>10} {:>12}\n", "bytes", "delivery", "least us",
                 "median us", "messages/s");
    }
    for (const std::size_t bytes :
         {std::size_t{1} << 10, std::size_t{kSmall}, std::size_t{64} << 10, std::size_t{8} << 20}) {
      memory_.assign(bytes, std::byte{1});
      const auto ways = static_cast<std::uint32_t>(bytes > kSmall ? 2 : std::size(kWays));
      for (std::uint32_t g = 0; g < ways; ++g) create(g, kWays[g]);
      const std::size_t messages =
          bytes < (1 << 20) ? messages_ : std::max<std::size_t>(messages_ / 10, 10);
      if (mesh_.rank() == 0) measure(bytes, messages, ways);
      for (std::uint32_t g = 0; g < ways; ++g) groups_.destroy_group(g);
    }
  }

 private:
  void create(std::uint32_t id, const Way& way) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t r = 0; r < mesh_.ranks(); ++r) members.push_back(r);
    hw::GroupCallbacks callbacks;
    // All messages land in the same memory: what a message is, nobody looks at.
    callbacks.incoming = [this](std::size_t) { return std::span(memory_); };
    callbacks.completion = [this](std::span<std::byte>) {
      counts_[mesh_.rank()].at_ns.store(base::now_ns(), std::memory_order_relaxed);
      counts_[mesh_.rank()].completed.fetch_add(1, std::memory_order_release);
    };
    groups_.create_group(id, members, callbacks,
                         {.atomic_delivery = way.atomic, .small_bytes = way.small ? kSmall : 0});
  }

  // When the last rank had completed so many messages. Who waits sleeps: cores are for the ranks.
  std::int64_t all_completed(std::uint64_t messages) {
    std::int64_t last = 0;
    for (std::uint32_t r = 0; r < mesh_.ranks(); ++r) {
      while (counts_[r].completed.load(std::memory_order_acquire) < messages) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      last = std::max(last, counts_[r].at_ns.load(std::memory_order_relaxed));
    }
    return last;
  }

  // Nanoseconds until all have completed so many messages, sent one behind the other.
  double series(std::uint32_t group, std::size_t messages) {
    const std::int64_t start = base::now_ns();
    for (std::size_t m = 0; m < messages; ++m) groups_.send(group, memory_);
    sent_ += messages;
    return static_cast<double>(all_completed(sent_) - start);
  }

  static double median(std::vector<double>& values) {
    std::ranges::nth_element(values,
                             values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
  }

  void measure(std::size_t bytes, std::size_t messages, std::uint32_t ways) {
    std::vector<double> latency[std::size(kWays)];
    std::vector<double> rate[std::size(kWays)];
    for (std::size_t m = 0; m < messages + 10; ++m) {
      for (std::uint32_t g = 0; g < ways; ++g) {
        const double ns = series(g, 1);
        if (m >= 10) latency[g].push_back(ns);  // the first warm up
      }
    }
    for (int again = 0; again < 5; ++again) {
      for (std::uint32_t g = 0; g < ways; ++g) {
        rate[g].push_back(static_cast<double>(messages) / (series(g, messages) * 1e-9));
      }
    }
    for (std::uint32_t g = 0; g < ways; ++g) {
      const double least = *std::ranges::min_element(latency[g]);
      fmt::print("{:>9} {:>12} {:>10.1f} {:>10.1f} {:>12.0f}\n", bytes, kWays[g].name, least * 1e-3,
                 median(latency[g]) * 1e-3, median(rate[g]));
    }
    std::fflush(stdout);
  }

  Count* counts_;
  hw::Mesh mesh_;
  std::vector<std::byte> memory_;
  hw::Groups groups_;
  std::size_t messages_;
  std::uint64_t sent_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: group_bench TRANSPORT [RANKS [MESSAGES]]\n");
    return 2;
  }
  const std::uint32_t ranks = argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 4;
  if (ranks < 2 || ranks > kMostRanks) return 2;
  const std::size_t messages = argc > 3 ? static_cast<std::size_t>(std::atoi(argv[3])) : 500;
  void* const pages = mmap(nullptr, sizeof(Count) * kMostRanks, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return 3;
  Count* const counts = new (pages) Count[kMostRanks];
  return bench::run_on_local_ranks(ranks, [&](const hw::MeshOptions& options) {
    Bench(counts, options, argv[1], messages).run();
  });
}
