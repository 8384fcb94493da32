// The longest path through a large graph whose weights are straight lines in one parameter, for
// many values of it: the graph is packed once, then read from end to end for each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/slack/line.h"

namespace slackline::analysis {

/// From the start to any of its ends; every weight is ≥ 0.
class PathTape {
 public:
  struct Edge {
    std::uint32_t tail;
    Line weight;
  };

  /// Takes a graph's nodes, numbered from 0 to count − 1, each after all tails of its edges.
  class Builder {
   public:
    /// The parameter will be at least `lo`.
    Builder(std::uint32_t count, double lo);
    /// The node is reached from the start with `source`, and by each of the edges; whichever is
    /// longest. Not after any node that has an edge from this one.
    void node(std::uint32_t node, Line source, std::span<const Edge> in);
    /// A path can end here, after `more`.
    void end(std::uint32_t node, Line more);
    PathTape build();

   private:
    void keep_longest(std::vector<Edge>& edges) const;

    double lo_;
    std::vector<Edge> place_;  // of every node: the packed node that it is, and how long after
    std::vector<Edge> edges_;  // into packed nodes, in order
    std::vector<std::uint32_t> begin_;  // of every packed node; the first is the start
    std::vector<Edge> ends_;
    std::vector<Edge> candidates_;
  };

  /// The longest path at x ≥ lo, as a line: its length there is at(x).
  Line longest(double x);
  /// The longest path for all large x.
  Line longest_in_the_end() const;

  std::size_t node_count() const { return begin_.size() - 1; }
  std::size_t edge_count() const { return tails_.size(); }

 private:
  template <class Through>
  Line line_of_path(const Through& through) const;

  std::vector<std::uint32_t> begin_;  // of every node, its edges
  std::vector<std::uint32_t> tails_;
  std::vector<std::uint32_t> weight_of_;  // of every edge, in weights_
  std::vector<Line> weights_;             // each different one once, if they are few
  std::vector<double> weight_at_;
  std::vector<double> length_;
};

}  // namespace slackline::analysis
