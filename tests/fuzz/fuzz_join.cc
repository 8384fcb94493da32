// A join as a machine of states: the bytes choose which of the things that may happen next does, to
// rank 0, to all others, and by somebody who knows the secret. tests/support/join_system.h says
// what is promised at every step.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "tests/support/join_system.h"

namespace {

// Each of which is a byte or two.
constexpr std::uint32_t kMostSteps = 400;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using slackline::testing::JoinFaults;
  std::span<const std::uint8_t> bytes(data, size);
  // Behind the end whatever comes first happens, and no faults.
  const slackline::testing::Choose choose = [&](std::uint32_t below) -> std::uint32_t {
    if (bytes.empty() || below == 1) return 0;
    const std::uint32_t chosen = bytes.front() % below;
    bytes = bytes.subspan(1);
    return chosen;
  };
  const std::uint32_t ranks = 2 + choose(6);
  const std::uint32_t full_up_to = choose(2) == 0 ? slackline::hw::kFullMeshRanks : 1;
  const auto faults = static_cast<JoinFaults>(choose(4));
  try {
    slackline::testing::JoinSystem(ranks, full_up_to, faults, choose).run(kMostSteps);
  } catch (const slackline::testing::BrokenPromise& broken) {
    std::fprintf(stderr, "%s\n", broken.what());
    std::abort();
  }
  return 0;
}
