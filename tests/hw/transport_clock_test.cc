// Rank 0's clock over the transport: asked by some ranks or all, as often as one likes, beside
// schedules that run on the same transport.
#include "hw/transport_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/driver.h"
#include "tests/hw/call_ranks.h"
#include "tests/hw/mesh_ranks.h"
#include "tests/hw/shared_number.h"

namespace slackline {
namespace {

using hw::ClockSample;
using hw::Mesh;
using hw::MeshOptions;
using hw::TransportClock;
using testing::call_transport;
using testing::MeshRanks;
using Say = MeshRanks::Say;

class TransportClocks : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Transports, TransportClocks,
                         ::testing::Values("shm", "net", "tcp;ofi_rxm"), [](const auto& tested) {
                           const std::string name = tested.param;
                           return name == "tcp;ofi_rxm" ? "rxm" : name;
                         });

// What is wrong with a round of a rank; empty if nothing. All ranks have one clock here.
std::string fault_of(const std::optional<ClockSample>& sample, bool asks) {
  if (sample.has_value() != asks) return asks ? "no sample" : "a sample that nobody asked for";
  if (!asks) return "";
  if (sample->asked_ns > sample->there_ns) return "an answer from before the question";
  return sample->there_ns > sample->answered_ns ? "an answer from after it came" : "";
}

TEST_P(TransportClocks, AnswersAreOfTheTimeOfTheQuestion) {
  constexpr std::uint32_t kRanks = 5;
  call_transport(GetParam());  // libfabric looks at all its providers, once for all children
  MeshRanks processes;
  processes.start_all(kRanks, [](const MeshOptions& options, const Say& say) {
    Mesh mesh(options);
    const auto transport = call_transport(GetParam());
    const std::vector<std::vector<std::uint32_t>> all_asking = {{1, 2, 3, 4}, {2}, {1, 4}};
    std::string faults;
    std::uint32_t first_channel = 3;
    for (const std::vector<std::uint32_t>& asking : all_asking) {
      TransportClock clock(mesh, *transport, asking, first_channel,
                           [&](const hw::Completion&) { faults += "a completion of nobody's; "; });
      const bool asks = std::ranges::find(asking, mesh.rank()) != asking.end();
      std::int64_t last_ns = 0;
      for (int round = 0; round < 3; ++round) {
        const auto sample = clock.round();
        faults += fault_of(sample, asks);
        if (sample && sample->asked_ns < last_ns) faults += "an old sample; ";
        if (sample) last_ns = sample->answered_ns;
      }
      mesh.barrier();
      clock.close();
      first_channel += TransportClock::kChannels;
    }
    say(faults.empty() ? "right" : faults);
  });
  for (std::uint32_t r = 0; r < kRanks; ++r) EXPECT_EQ(processes.next(r), "right") << r;
}

// Nobody waits for a rank that is gone.
TEST_P(TransportClocks, ARankThatEndsIsNamed) {
  call_transport(GetParam());
  MeshRanks processes;
  for (std::uint32_t r = 0; r < 3; ++r) {
    processes.start(processes.options(r, 3), [](const MeshOptions& own, const Say& say) {
      Mesh mesh(own);
      const auto transport = call_transport(GetParam());
      const std::vector<std::uint32_t> asking = {1, 2};
      TransportClock clock(mesh, *transport, asking, 0, [](const hw::Completion&) {});
      say("connected");
      if (mesh.rank() == 1) return static_cast<void>(pause());
      try {
        hw::naming_the_lost(mesh, own.failure_timeout, [&] { return clock.round(); });
        mesh.barrier();
      } catch (const hw::PeerLost& error) {
        say(fmt::format("lost {}", error.rank()));
      }
    });
  }
  for (std::uint32_t r = 0; r < 3; ++r) EXPECT_EQ(processes.next(r), "connected");
  processes.signal(1, SIGKILL);
  for (const std::uint32_t r : {0u, 2u}) EXPECT_EQ(processes.next(r), "lost 1") << r;
}

// Nor for one that has left in order, or does something else.
TEST_P(TransportClocks, ARankThatDoesNotComeIsNotWaitedForLong) {
  call_transport(GetParam());
  for (const bool leaves : {true, false}) {
    SCOPED_TRACE(leaves);
    testing::SharedNumber go;
    MeshRanks processes;
    processes.start_all(2, [&](const MeshOptions& own, const Say& say) {
      std::optional<Mesh> mesh(std::in_place, own);
      const auto transport = call_transport(GetParam());
      const hw::WatchedTime::Duration patience =
          leaves ? std::chrono::hours(1) : std::chrono::milliseconds(200);
      TransportClock clock(
          *mesh, *transport, std::vector<std::uint32_t>{1}, 0, [](const hw::Completion&) {},
          patience);
      if (mesh->rank() == 1) {
        if (leaves) mesh.reset();
        go.await(1);
        return;
      }
      try {
        clock.round();
      } catch (const Error& error) {
        say(error.what());
      }
    });
    EXPECT_EQ(processes.next(0),
              leaves ? "rank 1 has left, and rank 0 still compares clocks with it"
                     : "rank 0: nothing happened for 0.2 s, and no rank is lost; clocks are "
                       "compared with rank 1");
    go.set(1);
  }
}

}  // namespace
}  // namespace slackline
