// A run that is driven alone: it starts, gets what it asks for instant by instant, and is asked for
// its result once nothing is left.
#include "machine/driven_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "machine/platform.h"
#include "machine/wiring.h"
#include "tests/unit/analysis/program.h"

namespace slackline::machine {
namespace {

using Kind = ExecutionEvent::Kind;
using sched::OpId;

// Writes down what it is told, and asks for a few things.
class Told final : public DrivenRun {
 public:
  explicit Told(DrivenClock& clock) : clock_(clock) {}
  void start() override {
    text_ += "start\n";
    clock_.at(2e-6, {OpId(7), Kind::kHeldBack});
    clock_.at(1e-6, {OpId(5), Kind::kHeldBack});
    clock_.at(1e-6, {OpId(6), Kind::kHeldBack});
  }
  void instant(double now_s, std::vector<ExecutionEvent>& events) override {
    std::sort(events.begin(), events.end());
    text_ += fmt::format("{:.2f} us:", now_s * 1e6);
    for (const ExecutionEvent& event : events) {
      const bool sent = event.kind() == Kind::kSent;
      text_ += fmt::format(" {}{}", event.op().value, sent ? " sent" : "");
      // 1250 bytes at 10 Gbit/s take 1 us.
      if (event.op() == OpId(7) && !sent) {
        clock_.transmit(now_s, PathId(0), 1250, OpId(7));
      }
    }
    text_ += "\n";
  }
  std::string result() override { return text_ + "end\n"; }

 private:
  DrivenClock& clock_;
  std::string text_;
};

TEST(DriveAlone, StartsDeliversEachInstantAndReturnsTheResult) {
  const Platform platform = parse_platform_spec("star:rate=10Gbps");
  testing::Program program(2);
  program.channel(0, 1);
  const Wiring wiring(platform, 2);
  const Paths paths(program.build(), wiring, {});
  EXPECT_EQ(drive_alone(paths, [](DrivenClock& clock) { return std::make_unique<Told>(clock); }),
            "start\n1.00 us: 5 6\n2.00 us: 7\n3.00 us: 7 sent\nend\n");
}

}  // namespace
}  // namespace slackline::machine
