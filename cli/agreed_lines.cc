#include "cli/agreed_lines.h"

#include <fmt/format.h>

#include "machine/issue_policy.h"
#include "sched/digest.h"

namespace slackline::cli {

std::vector<std::string> agreed_lines(const hw::RunOptions& options) {
  std::string delays = "none";
  if (!options.delays.empty()) {
    sched::DigestWriter writer;
    writer.add_text(options.delays.text());
    delays = to_string(writer.finish());
  }
  return {
      // A rank that does not prove its bytes leaves its memory as an iteration before had it.
      fmt::format("bytes: {}", options.prove ? "proved" : "not proved"),
      fmt::format("times of operations: {}", options.timestamps ? "taken" : "not taken"),
      fmt::format("policy: {}", machine::name(options.order.policy)),
      fmt::format("sends in flight: {}", options.order.sends_in_flight),
      "delays: " + delays,
  };
}

}  // namespace slackline::cli
