// The trees of the Unbalanced Tree Search benchmark (Olivier et al., LCPC 2006), as its published
// code makes them with SHA-1: a vertex is its digest, and how many children it has a function of
// that and of its depth.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sched/workloads/tasks/sha1.h"

namespace slackline::sched {

/// How the expected number of children of a geometric tree depends on the depth; or a binomial
/// tree.
enum class UtsShape : std::uint8_t { kFixed, kLinear, kCyclic, kBinomial };

struct UtsParameters {
  UtsShape shape = UtsShape::kFixed;
  std::uint32_t depth = 10;     // geometric: d, at most 2^16
  std::uint32_t branching = 4;  // geometric: b; binomial: children of the root
  std::uint32_t seed = 19;      // r
  std::uint32_t children = 8;   // binomial: m, of a vertex that has any…
  double probability = 0.1;     // …which it has with probability q
};

/// The benchmark's samples T1, T5, T2, T3, T1L, T2L; nothing for any other name.
std::optional<UtsParameters> uts_sample(std::string_view name);

class UtsTree {
 public:
  explicit UtsTree(const UtsParameters& parameters);

  Sha1 root() const;
  static Sha1 child(const Sha1& parent, std::uint32_t number);
  std::uint32_t children(const Sha1& vertex, std::uint32_t depth) const;

  struct Size {
    std::uint64_t vertices = 0;
    std::uint64_t leaves = 0;
    std::uint32_t depth = 0;
  };
  /// Walks the tree depth first; stops once it has seen more than `limit` vertices.
  Size measure(std::uint64_t limit = ~std::uint64_t{0}) const;

 private:
  bool is_barren(std::uint32_t depth) const;

  UtsParameters parameters_;
  /// By depth: the k-th entry is the least draw of 31 bits with which a vertex has more than k
  /// children. Deeper ones have none.
  std::vector<std::vector<std::uint32_t>> least_draw_;
};

}  // namespace slackline::sched
