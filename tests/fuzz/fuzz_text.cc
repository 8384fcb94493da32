// Any text, read as the text form of a schedule. Only our own errors may come out, of one line
// each; what is read must survive being written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sched/text.h"
#include "tests/fuzz/require_ours.h"

namespace sched = slackline::sched;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto schedule =
      slackline::fuzz::unless_refused([&] { return sched::read_text(text, "fuzz"); });
  if (!schedule) return 0;
  const std::string written = sched::write_text(*schedule);
  const sched::Schedule again = sched::read_text(written, "again");
  if (again.digest() != schedule->digest() || sched::write_text(again) != written) std::abort();
  return 0;
}
