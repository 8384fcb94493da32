// What `advise` found, for people and as a JSON document.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/advise.h"
#include "cli/answer.h"
#include "cli/synthesis_report.h"
#include "machine/delay_plan.h"

namespace slackline::cli {

struct AdviceReport {
  const analysis::AdviceRequest& request;
  const analysis::CandidateTable& table;
  const std::vector<std::uint32_t>& ranking;     // of the candidates, best first
  std::optional<analysis::Confirmed> confirmed;  // nothing without an engine to confirm with
  std::string platform_text;                     // as it was given, for `--platform`
  std::string rack_map;                          // the file for the advice, if it needs one
  bool rack_map_written = false;
  const machine::DelayPlan& noise;
  std::uint32_t samples = 0;
  std::optional<SynthesisReport> synthesis = std::nullopt;

  void say(Answer& answer) const;
  /// A row for each candidate, best first: schedule, placement, ops, predicted_s, contended (0 or
  /// 1), floor_s, confirmed_s and noise_ratio, which are empty where nobody looked.
  std::string csv() const;
  /// The times by which the best are judged, as SVG.
  std::string plot(std::string_view title) const;

 private:
  std::string spec_text(const analysis::Candidate& candidate) const;
  std::string platform_of(const analysis::Candidate& candidate) const;
  std::string verdict() const;
};

/// The time that a candidate is judged by.
double judged_s(const analysis::Candidate& candidate);

}  // namespace slackline::cli
