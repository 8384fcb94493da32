// The times of a run whose ranks have clocks of their own.
#include "hw/run_clock.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "hw/passing_transport.h"
#include "tests/hw/call_ranks.h"
#include "tests/hw/clock_ahead.h"
#include "tests/hw/mesh_ranks.h"

namespace slackline {
namespace {

using testing::MeshRanks;
using namespace std::chrono_literals;

constexpr double kFinish_s = 0.3;

// When an iteration ended, put right; then when each span of its errors is over, and its error.
void run_an_iteration(const hw::MeshOptions& own, const MeshRanks::Say& say) {
  hw::Mesh mesh(own);
  hw::RunClock clock(mesh);
  mesh.barrier();
  const std::chrono::duration<double> here = hw::RunClock::Clock::now().time_since_epoch();
  clock.begin(here.count() + mesh.clock().offset_s);
  clock.keep();
  std::this_thread::sleep_for(400ms);
  clock.end();
  std::string line = fmt::format("{}", clock.put_right(kFinish_s, 0));
  for (const hw::ClockErrors::Span& span : clock.errors(0, kFinish_s)) {
    line += fmt::format(" {} {}", span.until_s, span.error_s);
  }
  mesh.barrier();
  clock.close();
  say(line);
}

std::vector<double> numbers_of(const std::string& line) {
  std::vector<double> numbers;
  std::istringstream words(line);
  for (double number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

TEST(RunClock, ErrorsAreToldInOrderUpToTheEndOfTheIteration) {
  MeshRanks ranks;
  ranks.start(ranks.options(0, 2), run_an_iteration);
  ranks.start(ranks.options(1, 2), testing::with_clock_ahead(run_an_iteration));
  const std::string line = ranks.next(1);
  if (line == testing::kNoClocks) GTEST_SKIP() << line;
  const std::vector<double> told = numbers_of(line);
  ASSERT_GE(told.size(), 3u) << line;
  ASSERT_EQ(told.size() % 2, 1u) << line;
  // The first may end as the iteration begins: put right, no time is before that.
  double until_s = -1;
  for (std::size_t i = 1; i < told.size(); i += 2) {
    EXPECT_GT(told[i], until_s) << line;
    EXPECT_GE(told[i], 0) << line;
    until_s = told[i];
    EXPECT_GT(told[i + 1], 0) << line;
    EXPECT_LT(told[i + 1], 0.5) << line;
  }
  EXPECT_NEAR(until_s, told[0], 1e-6) << line;
  EXPECT_EQ(numbers_of(ranks.next(0)), std::vector<double>{kFinish_s});
}

// What is known of another clock gets worse with time, until the next answer comes.
TEST(RunClock, AnotherClockIsAskedAgainWhileTheRunGoesOn) {
  const auto body = [](const hw::MeshOptions& own, const MeshRanks::Say& say) {
    hw::Mesh mesh(own);
    mesh.barrier();
    if (mesh.follow_clock()) {
      const auto end = std::chrono::steady_clock::now() + 20s;
      double before_s = mesh.clock().error_s;
      bool better = false;
      while (!better && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(1ms);
        const double now_s = mesh.clock().error_s;
        better = now_s < before_s;
        before_s = now_s;
      }
      say(better ? "asked again" : "asked once");
    }
    mesh.barrier();
  };
  MeshRanks ranks;
  ranks.start(ranks.options(0, 2), body);
  ranks.start(ranks.options(1, 2), testing::with_clock_ahead(body));
  const std::string line = ranks.next(1);
  if (line == testing::kNoClocks) GTEST_SKIP() << line;
  EXPECT_EQ(line, "asked again");
  EXPECT_EQ(ranks.next(0), "(end)");
}

// Counts the messages that are sent over it.
class CountedSends final : public hw::PassingTransport {
 public:
  using PassingTransport::PassingTransport;

  std::size_t post(std::span<const hw::WorkRequest> requests) override {
    const std::size_t taken = under().post(requests);
    for (const hw::WorkRequest& request : requests.first(taken)) {
      count += request.kind == hw::RequestKind::kSend;
    }
    return taken;
  }

  std::uint32_t count = 0;
};

TEST(RunClock, TheTransportIsAskedBeforeTheRunAndAfterIt) {
  MeshRanks ranks;
  ranks.start_all(2, [](const hw::MeshOptions& own, const MeshRanks::Say& say) {
    hw::Mesh mesh(own);
    CountedSends transport(testing::call_transport("net"));
    hw::RunClock clock(mesh);
    const std::vector<std::uint32_t> asking{1};
    std::uint32_t others = 0;
    clock.ask_over(transport, asking, 0, [&](const hw::Completion&) { ++others; });
    const std::uint32_t before = transport.count;
    clock.end();
    say(fmt::format("{} {} {}", before, transport.count - before, others));
    mesh.barrier();
    clock.close();
  });
  constexpr std::uint32_t kQuestions = hw::TransportClock::kQuestions;
  EXPECT_EQ(ranks.next(0), fmt::format("{0} {0} 0", kQuestions));
  // And a word that it has asked enough.
  EXPECT_EQ(ranks.next(1), fmt::format("{0} {0} 0", kQuestions + 1));
}

}  // namespace
}  // namespace slackline
