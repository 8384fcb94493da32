// What each experiment is held to cannot be changed in passing.
#include "experiments/fact_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/read_file.h"
#include "experiments/registry.h"
#include "sched/digest.h"
#include "tests/support/source_dir.h"

namespace slackline::experiments {
namespace {

std::string pin_of(const std::string& judged) {
  sched::DigestWriter writer;
  writer.add_text(judged);
  return to_string(writer.finish()).substr(0, 12);
}

// Of each fact the pins of all forms in which it was ever judged, oldest first.
std::map<std::string, std::vector<std::string>> pinned() {
  std::istringstream lines(
      sched::read_file(slackline::testing::source_dir() + "/tests/data/fact_pins.txt"));
  std::map<std::string, std::vector<std::string>> pins;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string fact;
    words >> fact;
    for (std::string pin; words >> pin;) pins[fact].push_back(pin);
  }
  return pins;
}

TEST(FactFiles, AFormChangesOnlyWithAnEntryInItsHistory) {
  const auto pins = pinned();
  std::set<std::string> seen;
  for (const Experiment& experiment : experiments()) {
    for (const FactEntry& fact : read_fact_file(experiment.name).facts) {
      const std::string name = fmt::format("{}/{}", experiment.name, fact.id);
      std::string line = name;
      for (const FactChange& change : fact.history) {
        if (!change.was.empty()) line += ' ' + pin_of(change.was);
      }
      line += ' ' + pin_of(fact.judged());
      seen.insert(name);
      std::string found = name;
      if (pins.contains(name)) {
        for (const std::string& pin : pins.at(name)) found += ' ' + pin;
      }
      EXPECT_EQ(found, line)
          << "what is judged, or how, has changed: " << fact.judged()
          << "\nleave the old pin in tests/data/fact_pins.txt, add the new one behind it, and tell "
             "the change in the fact's history, with `was` as it was judged before";
    }
  }
  for (const auto& [fact, unused] : pins) {
    EXPECT_TRUE(seen.contains(fact)) << fact << ": a fact that was judged once is judged for ever";
  }
}

TEST(FactFiles, AreTheRegisteredExperiments) {
  std::set<std::string_view> files;
  for (const FactText& text : fact_texts()) files.insert(text.experiment);
  std::set<std::string_view> registered;
  for (const Experiment& experiment : experiments()) registered.insert(experiment.name);
  EXPECT_EQ(files, registered);
}

TEST(FactFiles, AChangeShowsWhatWasJudgedBefore) {
  const FactFile file = read_fact_file("seriema-table2");
  const FactEntry& range = file.facts.at(0);
  const FactEntry& by_row = file.facts.at(1);
  ASSERT_EQ(by_row.id, "writes-by-row");
  EXPECT_EQ(by_row.history.at(0).was, range.judged());
  EXPECT_EQ(by_row.cases.at(0).form.text(), "4.7988 ± 10 %");
}

}  // namespace
}  // namespace slackline::experiments
