// Any bytes, read as the Chakra traces of two ranks; the first two say how many are the first
// one's. Only our own errors may come out, of one line each; what is read must survive being
// written.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "sched/export/chakra.h"
#include "sched/import/chakra.h"
#include "sched/text.h"
#include "tests/fuzz/require_ours.h"

namespace sched = slackline::sched;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t first = std::min<std::size_t>(data[0] + 256u * data[1], bytes.size());
  const std::vector<std::string> traces = {bytes.substr(0, first), bytes.substr(first)};
  const auto schedule =
      slackline::fuzz::unless_refused([&] { return sched::read_chakra(traces, "fuzz"); });
  if (!schedule) return 0;
  const std::string text = sched::write_text(*schedule);
  if (sched::read_text(text, "again").digest() != schedule->digest()) std::abort();
  // What was sound comes out as traces that are, and settles in one round.
  const auto again =
      slackline::fuzz::unless_refused([&] { return sched::write_chakra(*schedule); });
  if (!again) return 0;
  const auto settled = sched::write_chakra(sched::read_chakra(*again));
  if (sched::write_chakra(sched::read_chakra(settled)) != settled) std::abort();
  return 0;
}
