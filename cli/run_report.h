// What `run` says of a real run, as a table and as JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/json_document.h"
#include "cli/link_use.h"
#include "cli/run_figures.h"
#include "cli/subject.h"
#include "hw/rank_facts.h"
#include "hw/run.h"

namespace slackline::cli {

struct RealRun {
  Subject subject;
  std::string transport;  // as the transport calls itself
  const hw::RunOptions& options;
  const hw::RunResult& result;
  RunFigures figures;
  const std::vector<hw::RankFacts>& facts;
  LinkUse use;
  std::optional<std::string> trace_file;
};

/// One row per rank, up to a few unless `all`, which adds where each ran.
std::string run_report(const RealRun& run, bool all);
/// `add_more` may add keys of its own.
std::string run_document(const RealRun& run,
                         const std::function<void(JsonDocument&)>& add_more = {});

}  // namespace slackline::cli
