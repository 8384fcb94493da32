#include "sched/workloads/tasks/uts_tree.h"

#include <algorithm>
#include <cmath>

namespace slackline::sched {
namespace {

constexpr double kDraws = 2147483648.0;       // 2^31
constexpr std::uint32_t kMostChildren = 100;  // but of a binomial tree's root

std::uint32_t draw_of(const Sha1& vertex) { return vertex[4] & 0x7fffffffu; }

double branching_at(const UtsParameters& p, std::uint32_t depth) {
  const double b = p.branching;
  const double at = static_cast<double>(depth) / p.depth;
  switch (p.shape) {
    case UtsShape::kLinear:
      return b * (1 - at);
    case UtsShape::kCyclic:
      return std::pow(b, std::sin(2.0 * 3.141592653589793 * at));
    default:
      return b;
  }
}

std::uint32_t depths(const UtsParameters& p) {
  return p.shape == UtsShape::kCyclic ? 5 * p.depth + 1 : p.depth;
}

}  // namespace

std::optional<UtsParameters> uts_sample(std::string_view name) {
  if (name == "T1") return UtsParameters{UtsShape::kFixed, 10, 4, 19};
  if (name == "T5") return UtsParameters{UtsShape::kLinear, 20, 4, 34};
  if (name == "T2") return UtsParameters{UtsShape::kCyclic, 16, 6, 502};
  if (name == "T3") return UtsParameters{UtsShape::kBinomial, 0, 2000, 42, 8, 0.124875};
  if (name == "T1L") return UtsParameters{UtsShape::kFixed, 13, 4, 29};
  if (name == "T2L") return UtsParameters{UtsShape::kCyclic, 23, 7, 220};
  return std::nullopt;
}

// A vertex has floor(log(1 − u) / log(1 − p)) children, where p = 1 / (1 + b) and u = draw / 2^31:
// k or more exactly if u ≥ 1 − (b / (1 + b))^k. No logarithm, whose last bits differ between
// machines, is taken for a vertex.
UtsTree::UtsTree(const UtsParameters& parameters) : parameters_(parameters) {
  if (parameters_.shape == UtsShape::kBinomial) return;
  least_draw_.resize(depths(parameters_));
  for (std::uint32_t depth = 0; depth < least_draw_.size(); ++depth) {
    const double b = depth == 0 ? parameters_.branching : branching_at(parameters_, depth);
    double rest = 1;
    for (std::uint32_t k = 1; k <= kMostChildren; ++k) {
      rest *= b / (1 + b);
      const double least = std::ceil(kDraws * (1 - rest));
      if (!(least < kDraws)) break;
      least_draw_[depth].push_back(static_cast<std::uint32_t>(least));
    }
  }
}

// The digest of the seed, in 20 bytes; and of the parent's with the child's number behind it.
Sha1 UtsTree::root() const {
  return sha1_compress(kSha1Start,
                       {0, 0, 0, 0, parameters_.seed, 0x80000000u, 0, 0, 0, 0, 0, 0, 0, 0, 0, 160});
}

Sha1 UtsTree::child(const Sha1& p, std::uint32_t number) {
  return sha1_compress(
      kSha1Start, {p[0], p[1], p[2], p[3], p[4], number, 0x80000000u, 0, 0, 0, 0, 0, 0, 0, 0, 192});
}

std::uint32_t UtsTree::children(const Sha1& vertex, std::uint32_t depth) const {
  const std::uint32_t draw = draw_of(vertex);
  if (parameters_.shape == UtsShape::kBinomial) {
    if (depth == 0) return parameters_.branching;
    return draw / kDraws < parameters_.probability ? parameters_.children : 0;
  }
  if (depth >= least_draw_.size()) return 0;
  std::uint32_t count = 0;
  for (const std::uint32_t least : least_draw_[depth]) {
    if (draw < least) break;
    ++count;
  }
  return count;
}

bool UtsTree::is_barren(std::uint32_t depth) const {
  return parameters_.shape != UtsShape::kBinomial && depth >= least_draw_.size();
}

UtsTree::Size UtsTree::measure(std::uint64_t limit) const {
  struct Vertex {
    Sha1 digest;
    std::uint32_t depth;
  };
  Size size;
  std::vector<Vertex> stack{{root(), 0}};
  while (!stack.empty() && size.vertices <= limit) {
    const Vertex vertex = stack.back();
    stack.pop_back();
    ++size.vertices;
    size.depth = std::max(size.depth, vertex.depth);
    const std::uint32_t count = children(vertex.digest, vertex.depth);
    if (count == 0) ++size.leaves;
    if (count != 0 && is_barren(vertex.depth + 1)) {  // their digests matter to nobody
      size.vertices += count;
      size.leaves += count;
      size.depth = std::max(size.depth, vertex.depth + 1);
      continue;
    }
    for (std::uint32_t i = count; i-- > 0;) {
      stack.push_back({child(vertex.digest, i), vertex.depth + 1});
    }
  }
  return size;
}

}  // namespace slackline::sched
