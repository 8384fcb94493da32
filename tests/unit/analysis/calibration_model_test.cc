// The equations of measured points, against the event engine.
#include "analysis/calibration_model.h"

#include <gtest/gtest.h>

#include "tests/unit/analysis/measured.h"

namespace slackline::testing {
namespace {

using analysis::predicted_s;
using analysis::unknowns_of;

std::vector<machine::Platform> platforms() {
  std::vector<machine::Platform> all;
  for (const char* spec :
       {"star:rate=100Gbps,latency=600ns,o_post=200ns,o_complete=150ns,gap=20ns,"
        "atomic_service=250ns,copy_rate=64Gbps",
        "star:rate=25Gbps,latency=1.7us,o_post=70ns,o_complete=31ns,gap=500ns,"
        "atomic_service=90ns,copy_rate=10GBps",
        "star:rate=8Gbps,latency=3us,o_post=0,o_complete=0,gap=100ns,interleave=0",
        "star:rate=40Gbps,latency=10ns,o_post=1us,o_complete=1us,gap=0,interleave=64KiB"}) {
    all.push_back(machine::parse_platform_spec(spec));
  }
  return all;
}

TEST(CalibrationModel, SaysWhatTheEventEngineSays) {
  for (const machine::Platform& platform : platforms()) {
    for (int k = 0; k < analysis::kPointKinds; ++k) {
      const auto kind = static_cast<PointKind>(k);
      if (kind == PointKind::kBehind) continue;
      for (const std::uint64_t bytes : {1u, 8u, 100u, 1000u, 4096u, 5000u, 100'000u}) {
        if (kind == PointKind::kAtomic && bytes != 8) continue;
        for (const std::uint64_t messages : {1u, 2u, 3u, 10u, 33u}) {
          const MeasuredPoint point = measured(kind, bytes, messages, platform);
          EXPECT_NEAR(predicted_s(point, unknowns_of(platform)), point.seconds,
                      1e-9 * point.seconds)
              << name(kind) << ' ' << bytes << " bytes " << messages << " times on "
              << platform.spec();
        }
      }
    }
  }
}

}  // namespace
}  // namespace slackline::testing
