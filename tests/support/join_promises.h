// What ranks may hold a join to at every step, whatever goes wrong.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hw/mesh/neighbours.h"
#include "hw/mesh/root_protocol.h"
#include "tests/support/joining_ranks.h"

namespace slackline::testing {

/// By rank; rank 0 is none.
using JoiningRanks = std::vector<std::unique_ptr<JoiningRank>>;

class JoinPromises {
 public:
  /// `false_root`: what the ranks hear from rank 0 is not all its own.
  JoinPromises(const hw::MeshOptions& options, std::uint64_t run, bool false_root)
      : options_(options), run_(run), false_root_(false_root) {}

  static bool all_joined(const hw::RootProtocol& its, const JoiningRanks& others) {
    bool all = joined(its.state());
    for (std::size_t r = 1; r < others.size(); ++r) {
      all = all && joined(others[r]->protocol.state());
    }
    return all;
  }

  /// After every step.
  void look(const hw::RootProtocol& its, const JoiningRanks& others) {
    const hw::JoinState& root = its.state();
    expect_steady(root, 0);
    promise(!its.going() || !root.verdict, "rank 0 says go and gives a verdict");
    promise(!joined(root) || its.going(), "rank 0 joins without the word to go");
    for (std::uint32_t r = 1; r < options_.ranks; ++r) {
      const JoiningRank& other = *others[r];
      expect_steady(other.protocol.state(), r);
      if (joined(other.protocol.state())) expect_joined(other, its);
    }
  }

  /// At the end of a join without faults.
  void expect_all_joined(const hw::RootProtocol& its, const JoiningRanks& others) const {
    promise(all_joined(its, others), "without faults, not all join");
    for (std::uint32_t a = 1; a < options_.ranks; ++a) {
      for (std::uint32_t b = 1; b < options_.ranks; ++b) {
        promise(others[a]->linked.contains(b) == are_neighbours(a, b),
                "ranks that are connected are not the neighbours");
      }
    }
  }

 private:
  static bool joined(const hw::JoinState& state) { return state.done && !state.verdict; }

  // What is decided stays so.
  void expect_steady(const hw::JoinState& state, std::uint32_t rank) {
    auto& [done, verdict] = before_[rank];
    promise(state.done || !done, "a join that is done goes on");
    promise(!verdict || state.verdict, "a verdict is taken back");
    if (verdict) promise(state.verdict->message == *verdict, "a verdict changes");
    if (state.verdict) {
      promise(state.verdict->rank < options_.ranks, "a verdict about a rank that is none");
      verdict = state.verdict->message;
    }
    done = state.done;
  }

  void expect_joined(const JoiningRank& other, const hw::RootProtocol& its) const {
    using enum hw::FrameKind;
    const hw::JoinState& state = other.protocol.state();
    promise(other.heard.count(kWelcome) == 1 && other.heard.count(kTable) != 0 &&
                other.heard.count(kGo) == 1,
            "a rank joins without being told all");
    for (std::uint32_t r = 1; r < options_.ranks; ++r) {
      promise(!are_neighbours(other.rank, r) || other.linked.contains(r),
              "a rank joins that is not connected to a neighbour");
    }
    promise(state.members.size() == options_.ranks, "a rank joins with a table of other ranks");
    if (false_root_) return;
    promise(its.going(), "a rank joins without rank 0's word to go");
    promise(state.hello.run == run_, "a rank joins another run");
    promise(encode(std::span(state.members)) == encode(std::span(its.state().members)),
            "a rank joins with another table");
  }

  bool are_neighbours(std::uint32_t one, std::uint32_t other) const {
    return hw::are_neighbours(one, other, options_.ranks, options_.full_up_to);
  }

  const hw::MeshOptions options_;
  const std::uint64_t run_;
  const bool false_root_;
  std::map<std::uint32_t, std::pair<bool, std::optional<std::string>>> before_;  // by rank
};

}  // namespace slackline::testing
