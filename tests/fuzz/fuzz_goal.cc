// Any text, read as a GOAL program. Only our own errors may come out, of one line each;
// what is read must survive being written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "sched/error.h"
#include "sched/export/goal.h"
#include "sched/import/goal.h"
#include "sched/text.h"

namespace {

namespace sched = slackline::sched;

std::optional<sched::Schedule> read(std::string_view text) {
  try {
    return sched::read_goal(text, "fuzz");
  } catch (const slackline::Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
    if (error.exit_code() != 2) std::abort();
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::optional<sched::Schedule> schedule = read({reinterpret_cast<const char*>(data), size});
  if (!schedule) return 0;
  const std::string written = sched::write_text(*schedule);
  if (sched::read_text(written, "again").digest() != schedule->digest()) std::abort();
  // What was sound comes out as a program that is, and settles in one round.
  const std::string program = sched::write_goal(sched::read_goal(sched::write_goal(*schedule)));
  if (sched::write_goal(sched::read_goal(program)) != program) std::abort();
  return 0;
}
