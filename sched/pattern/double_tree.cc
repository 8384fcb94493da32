#include "sched/pattern/double_tree.h"

#include <array>

#include "sched/pattern/edge_stream.h"
#include "sched/pattern/shared_options.h"

namespace slackline::sched {
namespace {

constexpr std::uint8_t kNoColour = 2;

// The two trees over ranks 1 … last, each rank with its parent, and the colours of their edges. An
// edge is known by its tree and its lower end.
class TwoTrees {
 public:
  explicit TwoTrees(std::uint32_t ranks) : last_(ranks - 1) {
    for (std::uint32_t tree = 0; tree < 2; ++tree) {
      parents_[tree].resize(ranks, 0);
      colours_[tree].resize(ranks, kNoColour);
      children_[tree].resize(ranks, {0, 0});
      for (std::uint32_t rank = 1; rank <= last_; ++rank) {
        const std::uint32_t above = parent_position(position(tree, rank));
        parents_[tree][rank] = above == 0 ? 0 : rank_at(tree, above);
      }
      // The root has one child in each tree; what it sends both is told apart in out_of_root().
      for (std::uint32_t rank = 1; rank <= last_; ++rank) {
        auto& children = children_[tree][parents_[tree][rank]];
        children[children[0] == 0 ? 0 : 1] = rank;
      }
    }
    // The root's first block leaves at step 0, so its edge is of colour 0.
    colour(0, children_[0][0][0], 0);
    for (std::uint32_t tree = 0; tree < 2; ++tree) {
      for (std::uint32_t rank = 1; rank <= last_; ++rank) {
        if (colours_[tree][rank] == kNoColour) colour(tree, rank, 0);
      }
    }
  }

  std::vector<EdgeStream> streams() const {
    std::vector<EdgeStream> streams;
    streams.reserve(2 * std::size_t{last_});
    for (std::uint32_t tree = 0; tree < 2; ++tree) {
      std::vector<std::uint32_t> held_from(last_ + 1, 0);
      held_from[0] = tree;  // the step in which the root has its first block of this tree to send
      for_each_downwards(tree, [&](std::uint32_t rank) {
        const std::uint32_t parent = parents_[tree][rank];
        const std::uint32_t earliest = held_from[parent];
        const std::uint32_t step = earliest + (earliest % 2 == colours_[tree][rank] ? 0 : 1);
        streams.push_back({parent, rank, step, tree});
        held_from[rank] = step + 1;
      });
    }
    return streams;
  }

 private:
  // The position in tree 0 whose place `rank` has in `tree`. Inner positions are even. Both maps
  // turn even ranks into odd positions.
  std::uint32_t position(std::uint32_t tree, std::uint32_t rank) const {
    if (tree == 0) return rank;
    return last_ % 2 == 0 ? last_ + 1 - rank : rank % last_ + 1;
  }
  std::uint32_t rank_at(std::uint32_t tree, std::uint32_t position) const {
    if (tree == 0) return position;
    return last_ % 2 == 0 ? last_ + 1 - position : position == 1 ? last_ : position - 1;
  }

  // 0: the root.
  std::uint32_t parent_position(std::uint32_t position) const {
    const std::uint32_t low = position & (~position + 1);
    const std::uint32_t above = (position ^ low) | (low << 1);
    return above > last_ ? position ^ low : above;
  }

  // The other edge out of the same source, in its tree or, from the root, in the other tree.
  // Returns its lower end, 0 if there is none, and its tree in `tree`.
  std::uint32_t sibling(std::uint32_t& tree, std::uint32_t rank) const {
    const std::uint32_t parent = parents_[tree][rank];
    if (parent == 0) {
      tree = 1 - tree;
      return children_[tree][0][0];
    }
    const auto& children = children_[tree][parent];
    return children[0] == rank ? children[1] : children[0];
  }

  // Colours the path or cycle on which the edge lies. Two edges are neighbours if they share their
  // source or their target; each has one neighbour of either kind at most, so colours alternate.
  void colour(std::uint32_t tree, std::uint32_t rank, std::uint8_t first) {
    for (const bool by_source : {true, false}) {
      std::uint32_t at_tree = tree;
      std::uint32_t at = rank;
      std::uint8_t now = first;
      bool turn = by_source;
      colours_[tree][rank] = first;
      while (true) {
        if (turn) {
          at = sibling(at_tree, at);
        } else {
          at_tree = 1 - at_tree;
        }
        if (at == 0 || colours_[at_tree][at] != kNoColour) break;
        now ^= 1;
        colours_[at_tree][at] = now;
        turn = !turn;
      }
    }
  }

  template <class Visit>
  void for_each_downwards(std::uint32_t tree, Visit visit) const {
    std::vector<std::uint32_t> pending{children_[tree][0][0]};
    while (!pending.empty()) {
      const std::uint32_t rank = pending.back();
      pending.pop_back();
      visit(rank);
      for (const std::uint32_t child : children_[tree][rank]) {
        if (child != 0) pending.push_back(child);
      }
    }
  }

  std::uint32_t last_;
  std::array<std::vector<std::uint32_t>, 2> parents_;
  std::array<std::vector<std::array<std::uint32_t, 2>>, 2> children_;
  std::array<std::vector<std::uint8_t>, 2> colours_;
};

}  // namespace

Plan double_tree(const MulticastOptions& options) {
  Plan plan = empty_plan(options);
  if (plan.ranks > 1) add_streams(plan, TwoTrees(plan.ranks).streams(), 2, 2);
  return with_root(std::move(plan), options.root);
}

constinit const PatternEntry kDoubleTreePattern = {
    "double-tree", "even blocks down one binary tree, odd ones down another", kMulticastOptions,
    double_tree};

}  // namespace slackline::sched
