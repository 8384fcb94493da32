// What an experiment answers: tables and figures as plain data, and the facts of a paper that they
// were held against.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "experiments/fact_file.h"

namespace slackline::experiments {

/// A number, shown with five significant digits, or a text.
using NumberOrText = std::variant<double, std::string>;

/// A number as people read it; a text as it is.
std::string shown(const NumberOrText& value);

struct ReportTable {
  std::string title;
  std::vector<std::string> columns;  // with their units
  std::vector<std::vector<NumberOrText>> rows = {};

  void add(std::vector<NumberOrText> row) { rows.push_back(std::move(row)); }
};

struct Axis {
  std::string label;  // with its unit
  int log_base = 0;   // 0: linear; 2 or 10
};

struct Series {
  std::string name;
  std::vector<double> x = {};
  std::vector<double> y = {};
  bool dashed = false;
  bool points = false;  // no line between them

  void add(double at, double value) {
    x.push_back(at);
    y.push_back(value);
  }
};

struct Figure {
  std::string name;  // of its file, without suffix: letters, digits and dashes
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series = {};
  bool steps = false;  // drawn as steps, without points: distributions, many values

  /// A point of each series, in their order.
  void add(double at, std::initializer_list<double> values) {
    std::size_t next = 0;
    for (const double value : values) series.at(next++).add(at, value);
  }
};

/// What came out of a fact of the experiment's file.
struct JudgedFact {
  std::string id;     // "writes-range", and in brackets the case: "writes-range[8 B]"
  std::string fact;   // what is judged
  std::string where;  // in the paper
  Source source = Source::kStated;
  Nature nature = Nature::kFinding;
  std::string because;   // of a nature other than a finding
  std::string expected;  // the form that it is judged in, with its tolerance
  NumberOrText got;
  bool ok = false;
  /// Set beforehand for a fact that is known not to come out: why. It still counts as not held.
  std::string known_gap;
  std::vector<std::string> rests_on;  // assumed figures, and how far each may move
  std::vector<std::string> history;   // oldest first
};

/// A figure of the machine or the workload, and who says so.
struct Constant {
  std::string name;
  std::string value;
  std::string source;  // "stated", "assumed", or "calibrated to …", and where
};

struct ExperimentReport {
  std::string title;
  std::string reproduces;  // "RDMC (DSN 2018), figure 8"
  std::vector<ReportTable> tables = {};
  std::vector<Figure> figures = {};
  std::vector<JudgedFact> facts = {};
  std::vector<Constant> constants = {};
  std::vector<std::string> notes = {};

  /// The same results as a table and as a figure.
  void add(ReportTable table, Figure figure) {
    tables.push_back(std::move(table));
    figures.push_back(std::move(figure));
  }

  /// Every fact holds.
  bool holds() const;
};

}  // namespace slackline::experiments
