// The makespan as a linear programme: the least end that every constraint of a frozen run allows,
// solved by COIN-OR's Clp. It shares the constraints with what it is compared with, and nothing
// else.
#pragma once

#include <coin/Clp_C_Interface.h>

#include <limits>
#include <memory>
#include <vector>

#include "analysis/slack/constraint_graph.h"
#include "analysis/slack/line.h"
#include "analysis/slack/weight_lines.h"

namespace slackline::testing {

/// min end, so that head − tail − slope · x ≥ weight for every line of every constraint, and
/// end ≥ node for every node. Column 0 is x, fixed at the value asked for, so that its reduced cost
/// is the slope of the makespan where that is unique.
class MakespanProgramme {
 public:
  /// Time is counted in units of `time_unit_s`, the parameter in units of `unit`.
  MakespanProgramme(const analysis::ConstraintGraph& graph, const analysis::WeightLines& lines,
                    double time_unit_s, double unit)
      : time_unit_s_(time_unit_s), unit_(unit), columns_(graph.node_count() + 2) {
    const auto column = [](analysis::NodeId node) { return static_cast<int>(node.value) + 1; };
    const int end = columns_ - 1;
    for (std::size_t i = 0; i < graph.constraints().size(); ++i) {
      const analysis::Constraint& c = graph.constraints()[i];
      const analysis::Lines weight = lines.weight(c, graph.weights()[i]);
      for (const analysis::Line line : weight.lines()) add(column(c.tail), column(c.head), line);
    }
    for (const analysis::NodeId node : graph.order()) {
      const analysis::Line source = lines.source(node);
      if (source != analysis::Line{}) add(-1, column(node), source);
      const analysis::Lines after = lines.after_end(node);
      if (!after.is_zero() || graph.out_of(node).empty()) {
        for (const analysis::Line line : after.lines()) add(column(node), end, line);
      }
    }
    load();
  }

  std::size_t rows() const { return least_.size(); }
  int columns() const { return columns_; }

  /// The makespan at x, as a line: its slope is the reduced cost of x. `status` is Clp's: 0 solved.
  analysis::Line solve(double x) {
    fix(x);
    Clp_dual(model_.get(), 0);
    const double end_s = makespan_s();
    const double slope = Clp_getReducedCost(model_.get())[0] * time_unit_s_ / unit_;
    return {end_s - slope * x, slope};
  }
  /// Of the last solution, however it was come by.
  double makespan_s() { return Clp_getObjValue(model_.get()) * time_unit_s_; }
  int status() { return Clp_status(model_.get()); }
  Clp_Simplex* model() { return model_.get(); }

 private:
  static constexpr double kUnbounded = std::numeric_limits<double>::max();
  void fix(double x) {
    Clp_columnLower(model_.get())[0] = x / unit_;
    Clp_columnUpper(model_.get())[0] = x / unit_;
  }

  struct Entry {
    int column;
    int row;
    double value;
  };

  void add(int tail, int head, analysis::Line weight) {
    const int row = static_cast<int>(least_.size());
    if (tail >= 0) entries_.push_back({tail, row, -1});
    entries_.push_back({head, row, 1});
    if (weight.slope != 0) entries_.push_back({0, row, -weight.slope * unit_ / time_unit_s_});
    least_.push_back(weight.at_zero / time_unit_s_);
  }

  void load() {
    std::vector<CoinBigIndex> start(static_cast<std::size_t>(columns_) + 1, 0);
    for (const Entry& entry : entries_) ++start[static_cast<std::size_t>(entry.column) + 1];
    for (std::size_t c = 1; c < start.size(); ++c) start[c] += start[c - 1];
    std::vector<CoinBigIndex> fill(start.begin(), start.end() - 1);
    std::vector<int> row(entries_.size());
    std::vector<double> value(entries_.size());
    for (const Entry& entry : entries_) {
      const auto place = static_cast<std::size_t>(fill[static_cast<std::size_t>(entry.column)]++);
      row[place] = entry.row;
      value[place] = entry.value;
    }
    const auto count = static_cast<std::size_t>(columns_);
    std::vector<double> lower(count, 0);
    const std::vector<double> upper(count, kUnbounded);
    std::vector<double> cost(count, 0);
    cost.back() = 1;
    const std::vector<double> most(least_.size(), kUnbounded);
    Clp_setLogLevel(model_.get(), 0);
    Clp_loadProblem(model_.get(), columns_, static_cast<int>(least_.size()), start.data(),
                    row.data(), value.data(), lower.data(), upper.data(), cost.data(),
                    least_.data(), most.data());
    Clp_setPrimalTolerance(model_.get(), 1e-9);
    Clp_setDualTolerance(model_.get(), 1e-9);
    fix(0);
  }

  double time_unit_s_;
  double unit_;
  int columns_;
  std::vector<Entry> entries_;
  std::vector<double> least_;
  std::unique_ptr<Clp_Simplex, void (*)(Clp_Simplex*)> model_{Clp_newModel(), Clp_deleteModel};
};

}  // namespace slackline::testing
