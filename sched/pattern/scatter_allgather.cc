#include "sched/pattern/scatter_allgather.h"

#include <algorithm>

#include "sched/pattern/shared_options.h"

namespace slackline::sched {
namespace {

class ScatterAllgather {
 public:
  explicit ScatterAllgather(Plan& plan) : plan_(plan), n_(plan.ranks) {
    for (std::uint32_t piece = 0; piece < n_; ++piece) {
      if (begin(piece + 1) - begin(piece) > plan.blocks / n_) larger_.push_back(piece);
    }
  }

  void make() {
    plan_.transfers.reserve(std::size_t{n_ - 1} * plan_.blocks);
    for (std::uint32_t half = 1u << (ceil_log2(n_) - 1); half > 0; half /= 2) scatter(half);
    for (std::uint32_t round = 0; round + 1 < n_; ++round) pass_on(round);
    plan_.steps = step_;
  }

 private:
  std::uint32_t begin(std::uint32_t piece) const {
    return static_cast<std::uint32_t>(std::uint64_t{piece} * plan_.blocks / n_);
  }

  // Ends the step if anything was sent in it; says whether.
  bool end_step(std::size_t sent_before) {
    if (plan_.transfers.size() == sent_before) return false;
    ++step_;
    return true;
  }

  // Ranks i, multiples of 2 · half, send pieces i + half … i + 2 · half − 1 to rank i + half.
  void scatter(std::uint32_t half) {
    for (std::uint32_t slot = 0;; ++slot) {
      const std::size_t before = plan_.transfers.size();
      for (std::uint32_t src = 0; src + half < n_; src += 2 * half) {
        const std::uint32_t block = begin(src + half) + slot;
        if (block >= begin(std::min(src + 2 * half, n_))) continue;
        plan_.transfers.push_back({step_, RankId(src), RankId(src + half), block});
      }
      if (!end_step(before)) return;
    }
  }

  // Rank i sends piece i − round, modulo n, to rank i + 1, the slot-th block in the slot-th step.
  void pass_on(std::uint32_t round) {
    const std::uint32_t even = plan_.blocks / n_;  // every piece has as many blocks, some one more
    for (std::uint32_t slot = 0; slot < even; ++slot) {
      const std::size_t before = plan_.transfers.size();
      for (std::uint32_t piece = n_ - round; piece < n_; ++piece) pass_on(round, piece, slot);
      for (std::uint32_t piece = 0; piece < n_ - round; ++piece) pass_on(round, piece, slot);
      end_step(before);
    }
    const auto wrapped = std::lower_bound(larger_.begin(), larger_.end(), n_ - round);
    const std::size_t before = plan_.transfers.size();
    for (auto piece = wrapped; piece != larger_.end(); ++piece) pass_on(round, *piece, even);
    for (auto piece = larger_.begin(); piece != wrapped; ++piece) pass_on(round, *piece, even);
    end_step(before);
  }

  void pass_on(std::uint32_t round, std::uint32_t piece, std::uint32_t slot) {
    const std::uint32_t src = piece < n_ - round ? piece + round : piece - (n_ - round);
    const std::uint32_t dst = src + 1;
    if (dst == n_) return;  // the root has everything
    // The scatter left the subtree's pieces with its highest rank.
    const std::uint32_t subtree = dst & (~dst + 1);
    if (piece - dst < subtree) return;
    plan_.transfers.push_back({step_, RankId(src), RankId(dst), begin(piece) + slot});
  }

  Plan& plan_;
  std::uint32_t n_;
  std::vector<std::uint32_t> larger_;  // the pieces of one block more than the others
  std::uint32_t step_ = 0;
};

}  // namespace

Plan scatter_allgather(const MulticastOptions& options) {
  Plan plan = empty_plan(options);
  if (plan.ranks > 1) ScatterAllgather(plan).make();
  return with_root(std::move(plan), options.root);
}

constinit const PatternEntry kScatterAllgatherPattern = {"scatter-allgather",
                                                         "binomial scatter of pieces, then a ring",
                                                         kMulticastOptions, scatter_allgather};

}  // namespace slackline::sched
