// What `slack --tolerance` says: how the makespan depends on one figure, and how much of it the run
// bears.
#pragma once

#include <string>
#include <vector>

#include "analysis/slack/tolerance.h"
#include "cli/answer.h"
#include "cli/slack_run.h"

namespace slackline::cli {

/// One figure as --tolerance has it: "latency", "link=host-3.out", "rank=2".
struct ToleranceFigure {
  std::string text;
  analysis::Parameter::Kind kind;
  std::string link;         // kByteTime; empty: every link
  std::uint32_t index = 0;  // of the rank or the operation
};

/// Reads `latency|overhead|completion|gap|links|link=NAME|rank=R|slowdown=R|op=N`, several with
/// commas between. Throws InputError; what the run does not have only tolerances_of() knows.
std::vector<ToleranceFigure> parse_tolerance(const std::vector<std::string>& texts);

struct FoundTolerances {
  std::vector<ToleranceFigure> figures;
  std::vector<analysis::Tolerance> tolerances;  // one each
  analysis::WireTimes wire_times;
  double unexplained_s;
};
/// Throws InputError for a link, rank or operation that there is not, Unsupported as
/// analysis::tolerance() does.
FoundTolerances tolerances_of(const SlackRun& run, const analysis::TimedSlack& slack,
                              std::vector<ToleranceFigure> figures);

void answer_tolerances(Answer& answer, const SlackRun& run, const FoundTolerances& found);

}  // namespace slackline::cli
