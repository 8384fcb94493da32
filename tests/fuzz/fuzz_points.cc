// Any text, read as measured points and calibrated. Only our own errors may come out, of one line
// each; points must survive being written, and the platform its canonical text.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analysis/fit/calibrate.h"
#include "base/error.h"
#include "tests/fuzz/require_ours.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slackline;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto points = analysis::read_points(text, "fuzz.csv");
    const std::string written = analysis::write_points(points);
    if (analysis::write_points(analysis::read_points(written, "again.csv")) != written) {
      std::abort();
    }
    if (points.size() > 64) return 0;
    const machine::Platform platform = analysis::calibrate(points, {}).platform;
    const std::string spec = platform.spec();
    if (machine::parse_platform_spec(spec).spec() != spec) std::abort();
  } catch (const Error& error) {
    slackline::fuzz::require_ours(error);
  }
  return 0;
}
