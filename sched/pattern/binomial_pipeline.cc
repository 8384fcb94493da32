#include "sched/pattern/binomial_pipeline.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "sched/pattern/shared_options.h"

namespace slackline::sched {
namespace {

constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();

// The transfers of a hypercube of 2^l vertices, vertices 1 … twins_ with two members each, step by
// step. A step's transfers come out ordered by source: those of the lower members first, then those
// of the upper. Every rank sends at most one block in a step and receives at most one.
class Pipeline : public StepSource {
 public:
  Pipeline(std::uint32_t ranks, std::uint32_t blocks, RankId root)
      : ranks_(ranks),
        blocks_(blocks),
        root_(root),
        dimensions_(floor_log2(ranks)),
        vertices_(1u << dimensions_),
        twins_(ranks - vertices_),
        exchanges_(ranks == 1 ? 0 : blocks + dimensions_ - 1),
        steps_(exchanges_ + (twins_ != 0 ? 1 : 0)),
        outgoing_(twins_ == 0 ? 0 : vertices_) {
    restart();
  }

  std::uint32_t steps() const override { return steps_; }

  bool next(std::vector<Hop>& hops) override {
    if (!make_step(hops)) return false;
    if (step_ + 4 * dimensions_ + 1 >= steps_) count_later_uses(hops);
    if (root_ != RankId(0)) exchange_with_root(hops);
    ++step_;
    return true;
  }

  void restart() override {
    step_ = 0;
    uses_left_.clear();
    upper_receives_.assign(twins_ + 1, 0);
    lower_lacks_.assign(twins_ + 1, kNothing);
    upper_lacks_.assign(twins_ + 1, kNothing);
  }

  // A vertex's two members may be met along each dimension, and a twin.
  std::uint32_t channels() const override {
    return twins_ == 0 ? dimensions_ : 2 * dimensions_ + 1;
  }
  // Once every vertex holds a block the pairs repeat every l steps, with twins every 2l.
  std::uint32_t first_uses_before() const override {
    return twins_ == 0 ? std::min(steps_, 2 * dimensions_) : std::min(steps_, 4 * dimensions_);
  }
  std::uint32_t receives_of(RankId rank) const override { return rank == root_ ? 0 : blocks_; }
  std::uint32_t blocks_kept() const override { return std::min(blocks_, dimensions_ + 3); }
  bool relays_whole_message() const override { return false; }

 private:
  // The hops of step_, by vertex.
  bool make_step(std::vector<Hop>& hops) {
    if (step_ == steps_) return false;
    turn_ = step_ % dimensions_;
    // Only the vertices below 2^step hold a block so early.
    const std::uint32_t holders = step_ < dimensions_ ? 1u << step_ : vertices_;
    if (twins_ == 0) {
      exchange(holders, hops);
      return true;
    }
    hops.clear();
    upper_sends_.clear();
    if (step_ < exchanges_) {
      choose_blocks(holders);
      send(holders, hops);
      receive(1u << turn_, holders);
    } else if (blocks_ == 1) {
      send_to_last_twins(hops);
    } else {
      for (std::uint32_t vertex = 1; vertex <= twins_; ++vertex) {
        pass_up(vertex, hops);
        pass_down(vertex);
      }
    }
    hops.insert(hops.end(), upper_sends_.begin(), upper_sends_.end());
    return true;
  }

  // A channel is used again after l or 2l steps, and again after that, if so many are left. The
  // steps from the one at hand on, taken once ahead, tell how often each is still used.
  void count_later_uses(std::vector<Hop>& hops) {
    if (uses_left_.empty()) {
      Pipeline ahead = *this;
      uses_left_.assign(std::size_t{ranks_} * channels(), 0);
      std::vector<Hop> later = hops;
      do {
        for (const Hop& hop : later) ++uses_left_of(hop);
        ++ahead.step_;
      } while (ahead.make_step(later));
    }
    for (Hop& hop : hops) hop.later = std::min<std::uint8_t>(--uses_left_of(hop), 2);
  }
  std::uint8_t& uses_left_of(const Hop& hop) {
    return uses_left_[std::size_t{hop.src.value} * channels() + hop.channel];
  }

  // Without twins each vertex that has something to send is one hop: all but the one across the
  // step's dimension from vertex 0. Written over the last step's hops, since those who go through
  // all steps do little more with a hop than it takes to make one.
  void exchange(std::uint32_t holders, std::vector<Hop>& hops) const {
    const std::uint32_t dimension = 1u << turn_;
    hops.resize(dimension < holders ? holders - 1 : holders);
    Hop* hop = hops.data();
    *hop++ = hop_of(0, dimension, std::min(step_, blocks_ - 1), turn_);
    for (std::uint32_t vertex = 1; vertex < dimension; ++vertex) {
      *hop++ = hop_of(vertex, vertex ^ dimension, block_of(vertex), turn_);
    }
    for (std::uint32_t vertex = dimension + 1; vertex < holders; ++vertex) {
      *hop++ = hop_of(vertex, vertex ^ dimension, block_of(vertex), turn_);
    }
  }

  void choose_blocks(std::uint32_t holders) {
    outgoing_[0] = std::min(step_, blocks_ - 1);
    for (std::uint32_t vertex = 1; vertex < holders; ++vertex) {
      outgoing_[vertex] = vertex == 1u << turn_ ? kNothing : block_of(vertex);
    }
  }
  // Of any vertex but 0 and that across the step's dimension from it.
  std::uint32_t block_of(std::uint32_t vertex) const {
    const std::uint32_t rotated =
        (vertex >> turn_ | vertex << (dimensions_ - turn_)) & (vertices_ - 1);
    const auto zeros = static_cast<std::uint32_t>(std::countr_zero(rotated));
    return std::min(step_ + zeros - dimensions_, blocks_ - 1);
  }

  // Its channel is used twice again, until count_later_uses() says something else.
  static Hop hop_of(std::uint32_t src, std::uint32_t dst, std::uint32_t block,
                    std::uint32_t channel) {
    return {RankId(src), RankId(dst), block, channel, 2};
  }

  bool has_twin(std::uint32_t vertex) const { return vertex - 1 < twins_; }
  std::uint32_t upper(std::uint32_t vertex) const { return vertex + vertices_ - 1; }

  void send(std::uint32_t holders, std::vector<Hop>& hops) {
    const std::uint32_t dimension = 1u << turn_;
    for (std::uint32_t vertex = 0; vertex < holders; ++vertex) {
      const std::uint32_t block = outgoing_[vertex];
      const std::uint32_t neighbour = vertex ^ dimension;
      const bool to_upper = has_twin(neighbour) && upper_receives_[neighbour] != 0;
      const Hop out = hop_of(vertex, to_upper ? upper(neighbour) : neighbour, block,
                             turn_ + (to_upper ? dimensions_ : 0));
      if (!has_twin(vertex)) {
        if (block != kNothing) hops.push_back(out);
      } else if (upper_receives_[vertex] != 0) {
        if (block != kNothing) hops.push_back(out);
        pass_down(vertex);
      } else {
        if (block != kNothing) {
          upper_sends_.push_back(hop_of(upper(vertex), out.dst.value, block, out.channel));
        }
        pass_up(vertex, hops);
      }
    }
  }

  // The twin that did not receive now lacks what came in; what it lacked before was passed.
  void receive(std::uint32_t dimension, std::uint32_t holders) {
    for (std::uint32_t vertex = 1; vertex <= twins_; ++vertex) {
      const std::uint32_t neighbour = vertex ^ dimension;
      const std::uint32_t incoming = neighbour < holders ? outgoing_[neighbour] : kNothing;
      (upper_receives_[vertex] != 0 ? lower_lacks_ : upper_lacks_)[vertex] = incoming;
      if ((vertex & dimension) != 0) upper_receives_[vertex] ^= 1;
    }
  }

  void pass_up(std::uint32_t vertex, std::vector<Hop>& hops) {
    if (upper_lacks_[vertex] == kNothing) return;
    hops.push_back(hop_of(vertex, upper(vertex), upper_lacks_[vertex], 2 * dimensions_));
  }

  void pass_down(std::uint32_t vertex) {
    if (lower_lacks_[vertex] == kNothing) return;
    upper_sends_.push_back(hop_of(upper(vertex), vertex, lower_lacks_[vertex], 2 * dimensions_));
  }

  // The last step of a single block: it comes along dimension 0, from the neighbour's member that
  // has it.
  void send_to_last_twins(std::vector<Hop>& hops) {
    for (std::uint32_t vertex = 0; vertex < vertices_; ++vertex) {
      const std::uint32_t neighbour = vertex ^ 1u;
      if (!has_twin(neighbour)) continue;
      const bool to_upper = upper_lacks_[neighbour] != kNothing;
      const bool from_upper = has_twin(vertex) && lower_lacks_[vertex] != kNothing;
      (from_upper ? upper_sends_ : hops)
          .push_back(hop_of(from_upper ? upper(vertex) : vertex,
                            to_upper ? upper(neighbour) : neighbour, 0,
                            to_upper ? dimensions_ : 0));
    }
  }

  // Rank 0 and the root change places. Insertion sort: at most two hops are out of place.
  void exchange_with_root(std::vector<Hop>& hops) const {
    const auto renamed = [&](RankId rank) {
      return rank == RankId(0) ? root_ : rank == root_ ? RankId(0) : rank;
    };
    for (Hop& hop : hops) {
      hop.src = renamed(hop.src);
      hop.dst = renamed(hop.dst);
    }
    for (std::size_t i = 1; i < hops.size(); ++i) {
      const Hop hop = hops[i];
      std::size_t hole = i;
      for (; hole > 0 && hop.src < hops[hole - 1].src; --hole) hops[hole] = hops[hole - 1];
      hops[hole] = hop;
    }
  }

  std::uint32_t ranks_;
  std::uint32_t blocks_;
  RankId root_;
  std::uint32_t dimensions_;
  std::uint32_t vertices_;
  std::uint32_t twins_;
  std::uint32_t exchanges_;  // steps along a dimension; the last one, if any, settles twins
  std::uint32_t steps_;
  std::uint32_t step_ = 0;
  std::uint32_t turn_ = 0;                    // the step's dimension
  std::vector<std::uint32_t> outgoing_;       // each vertex's block of this step, or kNothing
  std::vector<std::uint8_t> upper_receives_;  // which twin is the vertex's receiver
  std::vector<std::uint32_t> lower_lacks_;    // the block that only the other twin has
  std::vector<std::uint32_t> upper_lacks_;
  std::vector<Hop> upper_sends_;
  std::vector<std::uint8_t> uses_left_;  // by source and channel, near the end
};

}  // namespace

std::unique_ptr<StepSource> binomial_pipeline_steps(const MulticastOptions& options) {
  check(options);
  return std::make_unique<Pipeline>(options.ranks, options.blocks(), options.root);
}

Plan binomial_pipeline(const MulticastOptions& options) {
  Plan plan = empty_plan(options);
  plan.root = options.root;
  Pipeline pipeline(plan.ranks, plan.blocks, plan.root);
  plan.steps = pipeline.steps();
  plan.transfers.reserve(std::size_t{plan.ranks - 1} * plan.blocks);
  std::vector<Hop> hops;
  for (std::uint32_t step = 0; pipeline.next(hops); ++step) {
    for (const Hop& hop : hops) plan.transfers.push_back({step, hop.src, hop.dst, hop.block});
  }
  return plan;
}

constinit const PatternEntry kBinomialPipelinePattern = {
    "binomial-pipeline", "blocks along the edges of a hypercube, RDMC's best", kMulticastOptions,
    binomial_pipeline, binomial_pipeline_steps};

}  // namespace slackline::sched
