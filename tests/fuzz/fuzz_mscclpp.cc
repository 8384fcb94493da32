// Any text, read as an execution plan of MSCCL++. Only our own errors may come out, of one line
// each; what is read must survive being written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sched/import/mscclpp.h"
#include "sched/text.h"
#include "tests/fuzz/require_ours.h"

namespace sched = slackline::sched;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto schedule =
      slackline::fuzz::unless_refused([&] { return sched::read_mscclpp(text, "fuzz"); });
  if (!schedule) return 0;
  const std::string written = sched::write_text(*schedule);
  if (sched::read_text(written, "again").digest() != schedule->digest()) std::abort();
  return 0;
}
