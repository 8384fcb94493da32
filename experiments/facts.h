// What came out, held to the facts of an experiment's file.
#pragma once

#include <string>
#include <string_view>

#include "experiments/fact_file.h"
#include "experiments/report.h"

namespace slackline::experiments {

/// A fact of which nothing came out yet.
JudgedFact unjudged(const FactEntry& entry, const FactEntry::Case& one);

class Facts {
 public:
  /// Facts of `experiment` go to the end of `report`, which must outlive this.
  Facts(ExperimentReport& report, std::string_view experiment);

  /// Judges a number by the form that the file has for fact `id`, of the case `of` if it has
  /// several. Throws InternalError if the file has no such fact or case.
  void judge(std::string_view id, double got, std::string_view of = "");
  /// The same of a fact that no single number says: `ok` is what came of it, `got` says so in
  /// words.
  void judge_words(std::string_view id, bool ok, std::string got, std::string_view of = "");

 private:
  JudgedFact& add(std::string_view id, std::string_view of, NumberOrText got);
  const FactEntry::Case& found_case(const FactEntry& entry, std::string_view of) const;
  const FactEntry& found(std::string_view id) const;

  FactFile file_;
  std::string experiment_;
  ExperimentReport& report_;
};

}  // namespace slackline::experiments
