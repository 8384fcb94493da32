// Any bytes, read as a GOAL program that txt2bin has made. Only our own errors may come out, of one
// line each; what is read must be the same once it was written.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sched/export/goal.h"
#include "sched/export/goal_binary.h"
#include "sched/import/goal.h"
#include "tests/fuzz/require_ours.h"

namespace sched = slackline::sched;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto schedule =
      slackline::fuzz::unless_refused([&] { return sched::read_goal_binary(bytes, "fuzz"); });
  if (!schedule) return 0;
  // As bytes and as text it is one program, which settles in one round.
  const std::string written = sched::write_goal_binary(*schedule);
  const sched::Schedule again = sched::read_goal_binary(written);
  if (again.digest() != sched::read_goal(sched::write_goal(*schedule)).digest()) std::abort();
  if (sched::write_goal_binary(sched::read_goal_binary(sched::write_goal_binary(again))) !=
      sched::write_goal_binary(again)) {
    std::abort();
  }
  return 0;
}
