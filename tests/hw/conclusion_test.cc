// How often the ranks of an iteration tell each other that they move.
#include "hw/conclusion.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/hw/mesh_ranks.h"

namespace slackline {
namespace {

using testing::MeshRanks;
using namespace std::chrono_literals;

constexpr std::uint32_t kSaid = 1;  // a topic of the test's own

// Rank 1 moves 100 times, and rank 0 looks for what it was told of that: as many times as it hears
// something. A look takes up to 16 words.
int looks_with_news(hw::Conclusion::Clock::duration interval) {
  MeshRanks processes;
  processes.start_all(2, [interval](const hw::MeshOptions& options, const MeshRanks::Say& say) {
    hw::Mesh mesh(options);
    hw::Conclusion conclusion(mesh, interval);
    conclusion.begin();
    if (mesh.rank() == 1) {
      for (int i = 0; i < 100; ++i) conclusion.listen(true);
      mesh.send(0, kSaid, {});
    } else {
      mesh.receive(1, kSaid);
      int looks = 0;
      while (conclusion.listen(false)) ++looks;
      say(fmt::format("{}", looks));
    }
    mesh.barrier();
  });
  const int looks = std::stoi(processes.next(0));
  EXPECT_EQ(processes.next(0), "(end)");
  EXPECT_EQ(processes.next(1), "(end)");
  return looks;
}

TEST(Conclusion, ARankTellsThatItMovesOnceInAnInterval) { EXPECT_EQ(looks_with_news(1h), 1); }

TEST(Conclusion, ARankTellsEachTimeWhereTheIntervalIsOverAtOnce) {
  EXPECT_EQ(looks_with_news(hw::Conclusion::Clock::duration(1)), 7);  // ⌈100 / 16⌉
}

TEST(Conclusion, WithoutAnIntervalNobodyTellsThatItMoves) { EXPECT_EQ(looks_with_news({}), 0); }

TEST(Conclusion, AFailureIsOfItsIterationAlone) {
  MeshRanks processes;
  processes.start_all(1, [](const hw::MeshOptions& options, const MeshRanks::Say& say) {
    hw::Mesh mesh(options);
    hw::Conclusion conclusion(mesh);
    std::string heard;
    const auto hear = [&] {
      heard += conclusion.is_over() ? (conclusion.failed() ? "failed " : "finished ") : "open ";
    };
    conclusion.begin();
    hear();
    hw::Failed failed;
    failed.fault = hw::Failed::Fault::kInput;
    conclusion.tell(failed);
    hear();
    conclusion.begin();
    hear();
    conclusion.tell(hw::Finish{});
    hear();
    say(heard);
  });
  EXPECT_EQ(processes.next(0), "open failed open finished ");
}

}  // namespace
}  // namespace slackline
