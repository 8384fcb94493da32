#include "cli/synthesis_report.h"

#include <fmt/format.h>

#include "base/units.h"
#include "cli/human.h"

namespace slackline::cli {
namespace {

constexpr double kSame = 1e-9;  // ratios that differ by less are one time, computed twice

}  // namespace

std::string SynthesisReport::verdict() const {
  std::string text =
      fmt::format("{} in blocks of {}, from {}, proved; ", sched::human_seconds(makespan_s),
                  sched::format_bytes(block_bytes), start);
  if (ratio() < 1 - kSame) {
    text += fmt::format("{:.4g} of the best named pattern's time", ratio());
  } else if (ratio() <= 1 + kSame) {
    text += "as fast as the best named pattern";
  } else {
    text += fmt::format("no faster: {:.4g} of the best named pattern's time", ratio());
  }
  if (sizes_left != 0) {
    text +=
        fmt::format("; {} left out, with too many moves", human_count(sizes_left, "block size"));
  }
  return text;
}

void SynthesisReport::say(Answer& answer) const {
  answer.set("synthesized", title);
  answer.set("synthesized_digest", digest);
  answer.set("synthesized_start", start);
  answer.set("synthesized_block_bytes", block_bytes);
  answer.set("synthesized_makespan_s", makespan_s);
  answer.set("synthesized_greedy_s", greedy_s);
  answer.set("synthesized_named_s", named_s);
  answer.set("synthesized_ratio", ratio());
  answer.set("synthesized_attempts", attempts);
  answer.set("synthesized_improved", improved);
}

void SynthesisReport::say_none(Answer& answer) {
  answer.set_null({"synthesized", "synthesized_digest", "synthesized_start",
                   "synthesized_block_bytes", "synthesized_makespan_s", "synthesized_greedy_s",
                   "synthesized_named_s", "synthesized_ratio", "synthesized_attempts",
                   "synthesized_improved"});
}

}  // namespace slackline::cli
