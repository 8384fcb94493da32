#include "analysis/slack/path_tape.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "analysis/index_limit.h"
#include "base/grouped.h"

namespace slackline::analysis {
namespace {

using Edge = PathTape::Edge;

// Sums without the rounding errors of many small terms (Neumaier).
class ExactSum {
 public:
  void add(double term) {
    const double sum = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0;
  double lost_ = 0;
};

// Numbers lines in the order they come, equal ones alike as long as there are few.
class LineTable {
 public:
  std::uint32_t number_of(Line line) {
    if (lines_.size() < kMost) {
      std::size_t slot = hash(line);
      while (slots_[slot] != 0) {
        if (lines_[slots_[slot] - 1] == line) return slots_[slot] - 1;
        slot = (slot + 1) % slots_.size();
      }
      slots_[slot] = static_cast<std::uint32_t>(lines_.size()) + 1;
    }
    lines_.push_back(line);
    return static_cast<std::uint32_t>(lines_.size()) - 1;
  }
  std::vector<Line> take() { return std::move(lines_); }

 private:
  static constexpr std::size_t kMost = 1 << 14;
  static std::size_t hash(Line line) {
    const auto a = std::bit_cast<std::uint64_t>(line.at_zero);
    const auto b = std::bit_cast<std::uint64_t>(line.slope);
    return ((a ^ std::rotl(b, 32)) * 0x9e3779b97f4a7c15u) >> 48;
  }
  std::vector<Line> lines_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(1 << 16, 0);  // one more; 0: free
};

}  // namespace

PathTape::Builder::Builder(std::uint32_t count, double lo) : lo_(lo), place_(count), begin_{0, 0} {}

// Of several edges from one tail only those stay that are the longest somewhere, or nearly: an edge
// goes if one other is as long everywhere.
void PathTape::Builder::keep_longest(std::vector<Edge>& edges) const {
  if (edges.size() < 2) return;
  std::sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) {
    return std::tuple(a.tail, -a.weight.at(lo_), -a.weight.slope) <
           std::tuple(b.tail, -b.weight.at(lo_), -b.weight.slope);
  });
  const auto covers = [](const Edge& longer, const Edge& edge) {
    return longer.tail == edge.tail && longer.weight.slope >= edge.weight.slope;
  };
  std::size_t kept = 1;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (!covers(edges[kept - 1], edges[i])) edges[kept++] = edges[i];
  }
  edges.resize(kept);
}

void PathTape::Builder::node(std::uint32_t node, Line source, std::span<const Edge> in) {
  candidates_.clear();
  bool begins_here = true;
  for (const Edge& edge : in) {
    const Edge& tail = place_[edge.tail];
    candidates_.push_back({tail.tail, tail.weight + edge.weight});
    // No node is reached before 0.
    const Line& weight = edge.weight;
    if (weight.at(lo_) >= source.at(lo_) && weight.slope >= source.slope) begins_here = false;
  }
  if (begins_here) candidates_.push_back({0, source});
  keep_longest(candidates_);
  if (candidates_.size() == 1) {
    place_[node] = candidates_.front();
    return;
  }
  place_[node] = {static_cast<std::uint32_t>(begin_.size()) - 1, {}};
  edges_.insert(edges_.end(), candidates_.begin(), candidates_.end());
  begin_.push_back(static_cast<std::uint32_t>(edges_.size()));
}

void PathTape::Builder::end(std::uint32_t node, Line more) {
  ends_.push_back({place_[node].tail, place_[node].weight + more});
  // Many ends come to one packed node.
  if (ends_.size() > 1 && ends_.back().tail == ends_[ends_.size() - 2].tail) {
    const Line last = ends_.back().weight;
    Line& before = ends_[ends_.size() - 2].weight;
    if (last.slope <= before.slope && last.at(lo_) <= before.at(lo_)) ends_.pop_back();
  }
}

// The ends become edges to one last node. Then a node with one edge out gives its edges to that
// one's head.
PathTape PathTape::Builder::build() {
  keep_longest(ends_);
  if (ends_.empty()) ends_.push_back({0, {}});
  edges_.insert(edges_.end(), ends_.begin(), ends_.end());
  require_indexable(edges_.size(), "ways on which paths depend");
  begin_.push_back(static_cast<std::uint32_t>(edges_.size()));
  const auto nodes = static_cast<std::uint32_t>(begin_.size() - 1);

  // Backwards, so that a head is settled before its tails.
  std::vector<std::uint32_t> out(nodes, 0);
  std::vector<Edge> onto(nodes);  // the head that its edges go to, and how much longer
  for (std::uint32_t n = nodes; n-- > 0;) {
    const bool last = n == nodes - 1;
    if (!last && out[n] == 0) continue;
    if (last || n == 0 || out[n] > 1) onto[n] = {n, {}};
    for (std::uint32_t e = begin_[n]; e < begin_[n + 1]; ++e) {
      ++out[edges_[e].tail];
      onto[edges_[e].tail] = {onto[n].tail, edges_[e].weight + onto[n].weight};
    }
  }
  const auto leads_on = [&](std::uint32_t n) { return n == nodes - 1 || out[n] != 0; };
  const auto merged = [&](std::uint32_t n) { return n != 0 && out[n] == 1; };

  const base::Grouped<Edge> by_head(nodes, [&](auto&& take) {
    for (std::uint32_t n = 0; n < nodes; ++n) {
      if (!leads_on(n)) continue;
      for (std::uint32_t e = begin_[n]; e < begin_[n + 1]; ++e) {
        if (merged(edges_[e].tail)) continue;
        take(onto[n].tail, {edges_[e].tail, edges_[e].weight + onto[n].weight});
      }
    }
  });

  PathTape tape;
  LineTable table;
  std::vector<std::uint32_t> number(nodes, 0);
  tape.begin_ = {0, 0};
  for (std::uint32_t n = 1; n < nodes; ++n) {
    if (by_head[n].empty()) continue;
    number[n] = static_cast<std::uint32_t>(tape.begin_.size()) - 1;
    candidates_.assign(by_head[n].begin(), by_head[n].end());
    keep_longest(candidates_);
    for (const Edge& edge : candidates_) {
      tape.tails_.push_back(number[edge.tail]);
      tape.weight_of_.push_back(table.number_of(edge.weight));
    }
    tape.begin_.push_back(static_cast<std::uint32_t>(tape.tails_.size()));
  }
  tape.weights_ = table.take();
  tape.weight_at_.resize(tape.weights_.size());
  tape.length_.assign(tape.node_count(), 0);
  return tape;
}

Line PathTape::longest(double x) {
  for (std::size_t w = 0; w < weights_.size(); ++w) weight_at_[w] = weights_[w].at(x);
  const std::uint32_t* tail = tails_.data();
  const std::uint32_t* weight = weight_of_.data();
  const std::size_t nodes = node_count();
  double* length = length_.data();
  for (std::size_t n = 1; n < nodes; ++n) {
    const std::uint32_t* const end = tails_.data() + begin_[n + 1];
    double longest = length[*tail++] + weight_at_[*weight++];
    while (tail != end) longest = std::max(longest, length[*tail++] + weight_at_[*weight++]);
    length[n] = longest;
  }
  return line_of_path(
      [&](std::uint32_t edge) { return length_[tails_[edge]] + weight_at_[weight_of_[edge]]; });
}

Line PathTape::longest_in_the_end() const {
  struct Far {
    double slope;
    double at_zero;
    auto operator<=>(const Far&) const = default;
  };
  std::vector<Far> length(node_count(), Far{0, 0});
  const auto through = [&](std::uint32_t edge) {
    const Line& weight = weights_[weight_of_[edge]];
    const Far& tail = length[tails_[edge]];
    return Far{tail.slope + weight.slope, tail.at_zero + weight.at_zero};
  };
  for (std::size_t n = 1; n < node_count(); ++n) {
    length[n] = through(begin_[n]);
    for (std::uint32_t e = begin_[n] + 1; e < begin_[n + 1]; ++e) {
      length[n] = std::max(length[n], through(e));
    }
  }
  return line_of_path(through);
}

// The path from its end, and its line from its own weights, which is as good as exact.
template <class Through>
Line PathTape::line_of_path(const Through& through) const {
  ExactSum at_zero;
  ExactSum slope;
  for (std::size_t n = node_count() - 1; n != 0;) {
    std::uint32_t best = begin_[n];
    for (std::uint32_t e = best + 1; e < begin_[n + 1]; ++e) {
      if (through(e) > through(best)) best = e;
    }
    at_zero.add(weights_[weight_of_[best]].at_zero);
    slope.add(weights_[weight_of_[best]].slope);
    n = tails_[best];
  }
  return {at_zero.value(), slope.value()};
}

}  // namespace slackline::analysis
