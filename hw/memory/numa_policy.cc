#include "hw/memory/numa_policy.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace slackline::hw {

void prefer_node(std::span<std::byte> pages, int node) {
  unsigned own = 0;
  if (node < 0 && getcpu(nullptr, &own) == 0) node = static_cast<int>(own);
  constexpr unsigned kBits = 8 * sizeof(unsigned long);
  std::array<unsigned long, 16> nodes{};
  const auto number = static_cast<unsigned>(node);
  if (node < 0 || number >= kBits * nodes.size()) return;
  nodes[number / kBits] = 1ul << number % kBits;
  syscall(SYS_mbind, pages.data(), pages.size(), MPOL_PREFERRED, nodes.data(), kBits * nodes.size(),
          0u);
}

// Without nodes to move them to, the call says where they stand.
int node_of(std::span<std::byte> pages, std::size_t page_bytes) {
  constexpr std::size_t kBatch = 512;
  std::array<void*, kBatch> addresses{};
  std::array<int, kBatch> nodes{};
  int all = -1;
  for (std::size_t at = 0; at < pages.size();) {
    std::size_t count = 0;
    for (; count < kBatch && at < pages.size(); at += page_bytes) {
      addresses[count++] = pages.data() + at;
    }
    if (syscall(SYS_move_pages, 0, count, addresses.data(), nullptr, nodes.data(), 0) != 0) {
      return -1;
    }
    if (all < 0) all = nodes[0];
    if (all < 0 || std::any_of(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(count),
                               [&](int node) { return node != all; })) {
      return -1;
    }
  }
  return all;
}

}  // namespace slackline::hw
