// Any text, read as a queue program. Only our own errors may come out, of one line each; what is
// read must survive being written. What is proved sound, though nobody compiled it, must run.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "offload/check_queues.h"
#include "offload/costs.h"
#include "offload/emulate.h"
#include "offload/encode_queues.h"
#include "offload/queue_dot.h"
#include "offload/queue_text.h"
#include "sched/compile.h"
#include "tests/fuzz/require_ours.h"

namespace {

namespace offload = slackline::offload;
namespace sched = slackline::sched;

constexpr std::uint32_t kMostRanks = 64;
constexpr std::uint64_t kSeeds = 8;

// The schedule that the seeds carry out.
struct Subject {
  sched::Schedule schedule =
      sched::compile(sched::parse_spec("binomial-pipeline:ranks=3,bytes=40,block=16"));
  offload::MessageGraph graph{schedule};
};

void require_proof_to_hold(const offload::QueueProgram& program) {
  static const Subject subject;
  const auto found = check_queues(program, subject.schedule, subject.graph);
  for (const auto& diagnostic : found) {
    if (diagnostic.message.find('\n') != std::string::npos) std::abort();
  }
  // Of what is not the schedule's, or has no one producer, nothing can be run.
  if (!found.empty() && found.front().code <= offload::QueueCode::kProducer) return;
  offload::Emulator emulator(program, subject.schedule, subject.graph);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    if (!emulator.is_sound(seed) && found.empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = slackline::fuzz::unless_refused([&] {
    return offload::read_queues({reinterpret_cast<const char*>(data), size}, "fuzz");
  });
  if (!program) return 0;
  const std::string written = offload::write_queues(*program);
  const offload::QueueProgram again = offload::read_queues(written, "again");
  if (!(again == *program) || again.title() != program->title()) std::abort();
  if (offload::write_queues(again) != written) std::abort();
  if (program->rank_count() > kMostRanks) return 0;
  offload::costs_of(*program);
  offload::write_dot(*program);
  try {
    offload::encode_queues(*program, offload::placeholder_numbers(*program));
  } catch (const slackline::Error& error) {
    slackline::fuzz::require_ours(error);
  }
  require_proof_to_hold(*program);
  return 0;
}
