// Any text, read as the JSON form of a schedule. Only our own errors may come out, of one line
// each; what is read must survive being written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sched/export/json.h"
#include "sched/import/json.h"
#include "tests/fuzz/require_ours.h"

namespace sched = slackline::sched;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto schedule =
      slackline::fuzz::unless_refused([&] { return sched::read_json(text, "fuzz"); });
  if (!schedule) return 0;
  const std::string written = sched::write_json(*schedule);
  const sched::Schedule again = sched::read_json(written, "again");
  if (again.digest() != schedule->digest() || sched::write_json(again) != written) std::abort();
  return 0;
}
