// What a sweep says: a line for each size as soon as it is measured, or one JSON document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.h"
#include "cli/console.h"
#include "cli/contents.h"
#include "cli/run_figures.h"
#include "cli/schedule_source.h"
#include "hw/rank_facts.h"
#include "hw/run.h"

namespace slackline::cli {

/// What all sizes share.
struct SweepSubject {
  std::string name;  // the spec, without its bytes
  bool proved = false;
  std::size_t sizes = 0;
  hw::RunOptions options;  // of the first
  Reader reader;           // of all: with the facts of every rank
};

class SweepReport {
 public:
  explicit SweepReport(SweepSubject subject);

  /// In this order. Lines are written at once, so that an error may stand behind some of them.
  void begin(std::string_view transport, Console& console);
  void add(std::uint64_t bytes, const LoadedSchedule& loaded, const RunFigures& figures,
           const std::vector<hw::ProcessorUse>& processor, const Contents& contents,
           Console& console);
  void end(const std::vector<hw::RankFacts>& facts, Console& console);

 private:
  // Of the size at which a rank waited longest for its processor.
  struct LongestWaits {
    std::uint64_t bytes = 0;
    std::vector<hw::ProcessorUse> processor;
  };

  SweepSubject subject_;
  std::optional<JsonOutput> json_;
  std::optional<LongestWaits> waits_;
};

}  // namespace slackline::cli
