#include "sched/pattern/binomial_pipeline.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace slackline::sched {
namespace {

constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();

// The plan of a hypercube of 2^l vertices, vertices 1 … twins_ with two members each. A step's
// transfers come out ordered by source: those of the lower members first, then those of the upper.
class Pipeline {
 public:
  explicit Pipeline(Plan& plan)
      : plan_(plan),
        dimensions_(floor_log2(plan.ranks)),
        vertices_(1u << dimensions_),
        twins_(plan.ranks - vertices_),
        outgoing_(vertices_),
        upper_receives_(twins_ + 1),
        lower_lacks_(twins_ + 1, kNothing),
        upper_lacks_(twins_ + 1, kNothing) {}

  void make() {
    plan_.transfers.reserve(std::size_t{plan_.ranks - 1} * plan_.blocks);
    const std::uint32_t steps = plan_.blocks + dimensions_ - 1;
    for (std::uint32_t step = 0; step < steps; ++step) {
      // Only the vertices below 2^step hold a block so early.
      const std::uint32_t holders = step < dimensions_ ? 1u << step : vertices_;
      choose_blocks(step, holders);
      send(step, holders);
      receive(1u << step % dimensions_, holders);
    }
    if (twins_ != 0) settle(steps);
    plan_.steps = steps + (twins_ != 0 ? 1 : 0);
  }

 private:
  void choose_blocks(std::uint32_t step, std::uint32_t holders) {
    const std::uint32_t last = plan_.blocks - 1;
    const std::uint32_t turn = step % dimensions_;
    outgoing_[0] = std::min(step, last);
    for (std::uint32_t vertex = 1; vertex < holders; ++vertex) {
      const std::uint32_t rotated =
          (vertex >> turn | vertex << (dimensions_ - turn)) & (vertices_ - 1);
      const auto zeros = static_cast<std::uint32_t>(std::countr_zero(rotated));
      outgoing_[vertex] = rotated == 1 ? kNothing : std::min(step + zeros - dimensions_, last);
    }
  }

  bool has_twin(std::uint32_t vertex) const { return vertex - 1 < twins_; }
  std::uint32_t upper(std::uint32_t vertex) const { return vertex + vertices_ - 1; }

  void send(std::uint32_t step, std::uint32_t holders) {
    const std::uint32_t dimension = 1u << step % dimensions_;
    upper_sends_.clear();
    for (std::uint32_t vertex = 0; vertex < holders; ++vertex) {
      const std::uint32_t block = outgoing_[vertex];
      const std::uint32_t neighbour = vertex ^ dimension;
      const bool to_upper = has_twin(neighbour) && upper_receives_[neighbour] != 0;
      const Transfer out{step, RankId(vertex), RankId(to_upper ? upper(neighbour) : neighbour),
                         block};
      if (!has_twin(vertex)) {
        if (block != kNothing) plan_.transfers.push_back(out);
      } else if (upper_receives_[vertex] != 0) {
        if (block != kNothing) plan_.transfers.push_back(out);
        pass_down(step, vertex);
      } else {
        if (block != kNothing) {
          upper_sends_.push_back({step, RankId(upper(vertex)), out.dst, block});
        }
        pass_up(step, vertex);
      }
    }
    append_upper_sends();
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

  void settle(std::uint32_t step) {
    upper_sends_.clear();
    for (std::uint32_t vertex = 1; vertex <= twins_; ++vertex) {
      pass_up(step, vertex);
      pass_down(step, vertex);
    }
    append_upper_sends();
  }

  void pass_up(std::uint32_t step, std::uint32_t vertex) {
    if (upper_lacks_[vertex] == kNothing) return;
    plan_.transfers.push_back({step, RankId(vertex), RankId(upper(vertex)), upper_lacks_[vertex]});
  }

  void pass_down(std::uint32_t step, std::uint32_t vertex) {
    if (lower_lacks_[vertex] == kNothing) return;
    upper_sends_.push_back({step, RankId(upper(vertex)), RankId(vertex), lower_lacks_[vertex]});
  }

  void append_upper_sends() {
    plan_.transfers.insert(plan_.transfers.end(), upper_sends_.begin(), upper_sends_.end());
  }

  Plan& plan_;
  std::uint32_t dimensions_;
  std::uint32_t vertices_;
  std::uint32_t twins_;
  std::vector<std::uint32_t> outgoing_;       // each vertex's block of this step, or kNothing
  std::vector<std::uint8_t> upper_receives_;  // which twin is the vertex's receiver
  std::vector<std::uint32_t> lower_lacks_;    // the block that only the other twin has
  std::vector<std::uint32_t> upper_lacks_;
  std::vector<Transfer> upper_sends_;
};

}  // namespace

Plan binomial_pipeline(const MulticastOptions& options) {
  Plan plan = empty_plan(options);
  if (plan.ranks > 1) Pipeline(plan).make();
  return with_root(std::move(plan), options.root);
}

}  // namespace slackline::sched
