// Every experiment, with --quick: its facts hold, but for those that are pinned as failing.
#include "experiments/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/read_file.h"
#include "experiments/plot.h"
#include "tests/support/error_of.h"
#include "tests/support/source_dir.h"

namespace slackline::experiments {
namespace {

class Experiments : public ::testing::TestWithParam<Experiment> {};

// Nothing where it takes SimGrid and there is none.
std::optional<ExperimentReport> quick_run(const Experiment& experiment) {
  try {
    return experiment.run({.quick = true});
  } catch (const EnvironmentError&) {
#ifdef SLACKLINE_HAVE_SIMGRID
    throw;
#else
    return std::nullopt;
#endif
  }
}

// The facts of an experiment that fail as known with --quick, each after a line's end.
std::string pinned_failures(std::string_view experiment) {
  std::istringstream lines(
      sched::read_file(slackline::testing::source_dir() + "/tests/data/failing_facts.txt"));
  std::string failing;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(std::string(experiment) + '/')) failing += '\n' + line;
  }
  return failing;
}

std::string plots(const ExperimentReport& report) {
  std::string text;
  for (const Figure& figure : report.figures) text += plot_commands(figure);
  return text;
}

TEST_P(Experiments, QuickRunHoldsIsWellFormedAndTheSameTwice) {
  const std::optional<ExperimentReport> found = quick_run(GetParam());
  if (!found) GTEST_SKIP() << "without SimGrid";
  const ExperimentReport& report = *found;
  EXPECT_FALSE(report.title.empty());
  EXPECT_FALSE(report.reproduces.empty());
  EXPECT_FALSE(report.tables.empty());
  EXPECT_FALSE(report.facts.empty());
  EXPECT_FALSE(report.constants.empty());
  std::set<std::string> facts;
  std::string failing;
  for (const JudgedFact& fact : report.facts) {
    EXPECT_TRUE(facts.insert(fact.id).second) << "twice: " << fact.id;
    EXPECT_TRUE(fact.ok || !fact.known_gap.empty()) << fact.id << " fails without a reason";
    if (!fact.ok) failing += '\n' + std::string(GetParam().name) + '/' + fact.id;
  }
  EXPECT_EQ(failing, pinned_failures(GetParam().name));
  for (const ReportTable& table : report.tables) {
    EXPECT_FALSE(table.rows.empty()) << table.title;
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size()) << table.title;
    const std::set<std::string> columns(table.columns.begin(), table.columns.end());
    EXPECT_EQ(columns.size(), table.columns.size()) << table.title;
  }
  std::set<std::string> files;
  for (const Figure& figure : report.figures) {
    EXPECT_EQ(figure.name.rfind(GetParam().name, 0), 0u) << figure.name;
    EXPECT_TRUE(files.insert(figure.name).second) << figure.name;
    EXPECT_FALSE(figure.x.label.empty() || figure.y.label.empty()) << figure.name;
    EXPECT_FALSE(figure.series.empty()) << figure.name;
    for (const Series& series : figure.series) {
      EXPECT_EQ(series.x.size(), series.y.size()) << figure.name;
      EXPECT_FALSE(series.x.empty()) << figure.name << ", " << series.name;
    }
  }
  for (const Constant& constant : report.constants) {
    EXPECT_FALSE(constant.source.empty()) << constant.name;
  }
  EXPECT_EQ(plots(report), plots(*quick_run(GetParam())));
}

TEST_P(Experiments, ItsFolderSaysWhatIsExpected) {
  const std::string folder =
      slackline::testing::source_dir() + "/experiments/" + std::string(GetParam().name);
  EXPECT_TRUE(std::filesystem::exists(folder + "/README.md")) << folder;
  const std::string guide =
      sched::read_file(slackline::testing::source_dir() + "/docs/reproduction.md");
  EXPECT_THAT(guide, ::testing::HasSubstr("`" + std::string(GetParam().name) + "`"));
}

INSTANTIATE_TEST_SUITE_P(Figure, Experiments,
                         ::testing::ValuesIn(experiments().begin(), experiments().end()),
                         [](const auto& entry) {
                           std::string name(entry.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Registry, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (const Experiment& experiment : experiments()) {
    EXPECT_TRUE(names.insert(experiment.name).second) << experiment.name;
    EXPECT_EQ(find_experiment(experiment.name).name, experiment.name);
    EXPECT_FALSE(experiment.summary.empty());
  }
}

TEST(Registry, RefusesAnUnknownName) {
  EXPECT_THROW(find_experiment("rdmc-fig99"), InputError);
  EXPECT_THAT(testing::error_of([&] { find_experiment("rdmc-fig88"); }),
              ::testing::HasSubstr("did you mean 'rdmc-fig8'?"));
}

}  // namespace
}  // namespace slackline::experiments
